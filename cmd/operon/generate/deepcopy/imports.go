package deepcopy

import (
	"go/types"
	"sort"
	"strings"
)

// imports hands out the names by which a file refers to other packages: the last element of the path where it is free,
// and else as many of the elements before it as it takes. The first to ask has the shorter name.
type imports struct {
	own    *types.Package
	direct func(path string) (name string, ok bool) // the real name of a package that the package itself imports
	paths  map[string]string                        // path to the name handed out
	taken  map[string]bool
}

func newImports(own *types.Package, direct func(path string) (name string, ok bool)) *imports {
	return &imports{own: own, direct: direct, paths: map[string]string{}, taken: map[string]bool{own.Name(): true}}
}

// name returns the name for a package.
func (im *imports) name(path string) string {
	if name, ok := im.paths[path]; ok {
		return name
	}
	rest, name := cutLast(path)
	for im.taken[name] && rest != "" {
		var element string
		rest, element = cutLast(rest)
		name = element + name
	}
	if rest == "" {
		name += "x"
	}
	for im.taken[name] {
		name += "x"
	}
	im.taken[name] = true
	im.paths[path] = name
	return name
}

var identifier = strings.NewReplacer("-", "_", ".", "_", "~", "_")

// cutLast splits a path before its last element, and makes an identifier of that.
func cutLast(path string) (rest, last string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", identifier.Replace(path)
	}
	return path[:i], identifier.Replace(path[i+1:])
}

// write writes the import declaration.
func (im *imports) write(b *strings.Builder) {
	if len(im.paths) == 0 {
		b.WriteString("import ()\n")
		return
	}
	paths := make([]string, 0, len(im.paths))
	for path := range im.paths {
		paths = append(paths, path)
	}
	sort.Strings(paths)
	b.WriteString("import (\n")
	for _, path := range paths {
		b.WriteByte('\t')
		name := im.paths[path]
		if real, ok := im.direct(path); !ok || real != name {
			b.WriteString(name + " ")
		}
		b.WriteString(`"` + path + "\"\n")
	}
	b.WriteString(")\n")
}
