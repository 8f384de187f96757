package applyconfiguration

import (
	"go/token"
	"path"
	"slices"
	"strings"
)

// imports hands out the names by which a file refers to other packages: the last elements of the path, as many as it takes for a name that is
// free and not that of the file's own package. Who asks first has the shorter name.
type imports struct {
	own   string // the path of the file's package
	names map[string]string
	taken map[string]bool
}

func newImports(own string) *imports {
	return &imports{own: own, names: map[string]string{}, taken: map[string]bool{path.Base(own): true}}
}

var identifier = strings.NewReplacer("_", "", ".", "", "-", "", "~", "")

// qualifier is the name of a package with a dot behind it, and empty for the file's own.
func (im *imports) qualifier(importPath string) string {
	if importPath == im.own || importPath == "" {
		return ""
	}
	if name, ok := im.names[importPath]; ok {
		return name + "."
	}
	elements := strings.Split(importPath, "/")
	var name string
	for i := len(elements) - 1; i >= 0; i-- {
		name = identifier.Replace(elements[i]) + name
		if !im.taken[name] {
			break
		}
	}
	for im.taken[name] {
		name += "x"
	}
	im.taken[name] = true
	if token.IsKeyword(name) {
		name = "_" + name
	}
	im.names[importPath] = name
	return name + "."
}

// write writes the import declaration: packages of the standard library first.
func (im *imports) write(b *strings.Builder) {
	if len(im.names) == 0 {
		return
	}
	var groups [2][]string
	for importPath := range im.names {
		first, _, _ := strings.Cut(importPath, "/")
		group := 0
		if strings.Contains(first, ".") {
			group = 1
		}
		groups[group] = append(groups[group], importPath)
	}
	b.WriteString("import (\n")
	for _, group := range groups {
		slices.Sort(group)
		for _, importPath := range group {
			b.WriteString("\t" + im.names[importPath] + ` "` + importPath + "\"\n")
		}
		if len(group) > 0 {
			b.WriteByte('\n')
		}
	}
	b.WriteString(")\n\n")
}
