package applyconfiguration

import (
	"fmt"
	"go/format"
	"path"
	"strings"
)

// file is a file in the making.
type file struct {
	// name is its path below the output directory.
	name        string
	packageName string
	imports     *imports
	body        strings.Builder
}

func newFile(dir, importPath, name, packageName string) *file {
	return &file{name: path.Join(dir, name), packageName: packageName, imports: newImports(importPath)}
}

func (f *file) printf(format string, args ...any) { fmt.Fprintf(&f.body, format, args...) }

// bytes is the whole file, formatted.
func (f *file) bytes(header string) ([]byte, error) {
	var b strings.Builder
	b.WriteString(header + "package " + f.packageName + "\n\n")
	f.imports.write(&b)
	b.WriteString(f.body.String())
	return format.Source([]byte(b.String()))
}

// files are all files of the API.
func (a *api) files() []*file {
	var out []*file
	for _, d := range a.types {
		f := newFile(a.version, path.Join(a.path, a.version), strings.ToLower(d.name())+".go", strings.ToLower(a.versionName))
		w := &writer{api: a, file: f, of: d, name: upperFirst(d.name()) + suffix}
		w.write()
		out = append(out, f)
	}
	return append(out, a.forKind(), a.parser())
}

// forKind is the file with what is common to the configurations.
func (a *api) forKind() *file {
	f := newFile("", a.path, "utils.go", path.Base(a.path))
	schemaPackage := runtimePackage + "/schema"
	f.printf(`// ForKind returns an apply configuration type for the given GroupVersionKind, or nil if no
// apply configuration type exists for the given GroupVersionKind.
func ForKind(kind %sGroupVersionKind) interface{} {
	switch kind {
`, f.imports.qualifier(schemaPackage))
	if len(a.types) > 0 {
		group := a.group
		if group == "" {
			group = "core"
		}
		f.printf("\t// Group=%s, Version=%s\n", group, a.versionName)
		for _, d := range a.types {
			f.printf("\tcase %sSchemeGroupVersion.WithKind(%q):\n", f.imports.qualifier(a.pkg.Path), upperFirst(d.name()))
			f.printf("\t\treturn &%s%s{}\n", f.imports.qualifier(path.Join(a.path, a.version)), d.name()+suffix)
		}
		f.printf("\n")
	}
	const managed = "k8s.io/apimachinery/pkg/util/managedfields"
	f.printf("\t}\n\treturn nil\n}\n\nfunc NewTypeConverter(scheme *%sScheme) %sTypeConverter {\n", f.imports.qualifier(runtimePackage), f.imports.qualifier(managed))
	f.printf("\treturn %sNewSchemeTypeConverter(scheme, %sParser())\n}\n", f.imports.qualifier(managed), f.imports.qualifier(path.Join(a.path, "internal")))
	return f
}

// parser is the file with the schemas.
func (a *api) parser() *file {
	f := newFile("internal", path.Join(a.path, "internal"), "internal.go", "internal")
	typed := f.imports.qualifier("sigs.k8s.io/structured-merge-diff/v6/typed")
	fmtName, sync := f.imports.qualifier("fmt"), f.imports.qualifier("sync")
	f.printf(`func Parser() *%[1]sParser {
	parserOnce.Do(func() {
		var err error
		parser, err = %[1]sNewParser(schemaYAML)
		if err != nil {
			panic(%[2]sSprintf("Failed to parse schema: %%v", err))
		}
	})
	return parser
}

var parserOnce %[3]sOnce
var parser *%[1]sParser
var schemaYAML = %[1]sYAMLObject(`+"`%[4]s`)\n", typed, fmtName, sync, a.schemas.yaml())
	return f
}
