package deepcopy

import (
	"context"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// FileName is the name of the generated file in each package.
const FileName = "zz_generated.deepcopy.go"

// Generator generates deep-copy methods. Its zero value generates them without a header.
type Generator struct {
	// HeaderFile is the path of a file whose text is put at the head of the generated files, a licence for instance.
	HeaderFile string `marker:",optional"`
	// Year replaces " YEAR" in the header's text.
	Year string `marker:",optional"`
}

// Help describes the generator and its options.
func Help() marker.Help {
	return marker.Help{
		Summary: "generates code containing DeepCopy, DeepCopyInto, and DeepCopyObject method implementations.",
		Fields: map[string]string{
			"HeaderFile": generate.HeaderFileHelp,
			"Year":       generate.YearHelp,
		},
	}
}

// Generate returns a file for each of the root packages in which a type gets methods.
func (g Generator) Generate(ctx context.Context, in *generate.Input) ([]generate.Artifact, error) {
	header, err := generate.Header(g.HeaderFile, g.Year)
	if err != nil {
		return nil, err
	}
	selected := map[*load.Package][]selection{}
	var packages []*load.Package
	for _, pkg := range in.Roots {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if types := selectTypes(pkg, in.Markers); len(types) > 0 {
			selected[pkg] = types
			packages = append(packages, pkg)
		}
	}
	load.Check(packages...)
	var files []generate.Artifact
	for _, pkg := range packages {
		if data := source(pkg, selected[pkg], header, in); data != nil {
			files = append(files, generate.Artifact{Package: pkg, Name: FileName, Data: data})
		}
	}
	return files, nil
}

// source writes the file of one package, and nil if none of the types needs a method.
func source(pkg *load.Package, selected []selection, header string, in *generate.Input) []byte {
	tpkg, _ := pkg.Types()
	f := &file{imports: newImports(tpkg, func(path string) (string, bool) { return imported(pkg, path) })}
	fset := pkg.Fset()
	f.mistake = func(pos token.Pos, length int, what, fix string) {
		in.Mistakes.Add(diag.Mistake{Pos: fset.Position(pos), Len: length, What: what, Fix: fix})
	}
	for _, s := range selected {
		obj, ok := tpkg.Scope().Lookup(s.name).(*types.TypeName)
		if !ok || obj.IsAlias() {
			continue
		}
		named, ok := obj.Type().(*types.Named)
		if !ok || !copied(named) {
			continue
		}
		f.methods(named, s.object)
		if s.object && lacksKind(pkg, named, map[types.Type]bool{}) && !pkg.Mentions("GetObjectKind") {
			in.Doubt(diag.Mistake{
				Pos: fset.Position(s.asked.Pos), Len: s.asked.Len,
				What: s.name + " is no runtime.Object, because it has no method GetObjectKind: its generated DeepCopyObject does not compile", Fix: "embed metav1.TypeMeta",
			})
		}
	}
	return f.bytes(pkg.Name, header)
}

// lacksKind tells a type that embeds nothing that may have a method GetObjectKind. Whether it declares one is not known: types are loaded with few of
// their methods.
func lacksKind(pkg *load.Package, t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	fields, ok := t.Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for field := range fields.Fields() {
		if !field.Embedded() {
			continue
		}
		embedded := types.Unalias(field.Type())
		if p, ok := embedded.(*types.Pointer); ok {
			embedded = types.Unalias(p.Elem())
		}
		named, ok := embedded.(*types.Named)
		if !ok {
			return false
		}
		metadata := named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == metaPath && (named.Obj().Name() == "ObjectMeta" || named.Obj().Name() == "ListMeta")
		if !metadata && (named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != pkg.Path || !lacksKind(pkg, named, seen)) {
			return false
		}
	}
	return true
}

// imported returns the name of a package that pkg imports itself, not through another.
func imported(pkg *load.Package, path string) (name string, ok bool) {
	for _, file := range pkg.Syntax() {
		for _, spec := range file.Imports {
			if spec.Path.Value != strconv.Quote(path) {
				continue
			}
			other, err := pkg.Import(path)
			if err != nil {
				return "", false
			}
			return other.Name, true
		}
	}
	return "", false
}

// copied reports whether a selected type gets methods: a copy of a plain value, or of a pointer, is Go's own.
func copied(named *types.Named) bool {
	if handWritten(named).any() {
		return true
	}
	switch u := named.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Pointer:
		return handWritten(u.Elem()).any()
	default:
		return true
	}
}

// A selection is a type that gets deep-copy methods; object says that DeepCopyObject is one of them.
type selection struct {
	name   string
	object bool
	// asked is the marker that asks for DeepCopyObject.
	asked marker.Span
}

// selectTypes returns the exported types of a package that its markers ask methods for, in the order of their
// declaration.
func selectTypes(pkg *load.Package, markers *marker.Collector) []selection {
	if !pkg.Mentions("+kubebuilder:object:") && !pkg.Mentions("+k8s:deepcopy-gen") {
		return nil
	}
	all := packageEnabled(markers.Package(pkg))
	var selected []selection
	for _, t := range markers.Types(pkg) {
		if !ast.IsExported(t.Name) {
			continue
		}
		object := isObject(t.Markers)
		if enabled(t.Markers, all || object) {
			one := selection{name: t.Name, object: object}
			if places := slices.Concat(t.Places[rootMarker], t.Places[interfacesMarker]); object && len(places) > 0 {
				one.asked = places[0]
			}
			selected = append(selected, one)
		}
	}
	return selected
}

func packageEnabled(values marker.Values) bool {
	if on, ok := marker.First[Enable](values, enableMarker); ok {
		return bool(on)
	}
	raw, _ := marker.First[marker.RawText](values, legacyMarker)
	return strings.HasPrefix(string(raw), "package")
}

func enabled(values marker.Values, otherwise bool) bool {
	if on, ok := marker.First[Enable](values, enableMarker); ok {
		return bool(on)
	}
	if raw, ok := marker.First[marker.RawText](values, legacyMarker); ok {
		return raw == "true"
	}
	return otherwise
}

func isObject(values marker.Values) bool {
	if root, ok := marker.First[Root](values, rootMarker); ok {
		return bool(root)
	}
	for _, name := range marker.All[Interfaces](values, interfacesMarker) {
		if name == runtimePath+".Object" {
			return true
		}
	}
	return false
}
