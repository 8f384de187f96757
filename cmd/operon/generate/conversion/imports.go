package conversion

import (
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// imports hands out the names by which the file refers to other packages.
type imports struct {
	own   string
	names map[string]string
	taken map[string]bool
}

// reserved are the names of what generated functions declare.
var reserved = []string{"in", "out", "src", "dst", "hub", "err", "ok", "key", "value", "result", "kept", "data", "text", "annotations"}

var identifier = strings.NewReplacer("-", "", ".", "", "_", "", "~", "")

// name returns the name for a package, the last elements of whose path it is made of, as many as it takes.
func (im *imports) name(importPath string) string {
	if name, ok := im.names[importPath]; ok {
		return name
	}
	var name string
	for rest := importPath; rest != "." && rest != "/"; rest = path.Dir(rest) {
		name = identifier.Replace(path.Base(rest)) + name
		if !im.taken[name] && !token.IsKeyword(name) && !slices.Contains(reserved, name) && token.IsIdentifier(name) {
			break
		}
	}
	for im.taken[name] || !token.IsIdentifier(name) {
		name += "x"
	}
	im.taken[name] = true
	im.names[importPath] = name
	return name
}

// write writes the import declaration of what the body refers to: packages of the standard library first. Names are handed out for mistakes, too.
func (im *imports) write(b *strings.Builder, body string) {
	var groups [2][]string
	for importPath, name := range im.names {
		if !regexp.MustCompile(`\b` + name + `\.`).MatchString(body) {
			continue
		}
		group := 0
		if first, _, _ := strings.Cut(importPath, "/"); strings.Contains(first, ".") {
			group = 1
		}
		groups[group] = append(groups[group], importPath)
	}
	b.WriteString("import (\n")
	for _, group := range groups {
		slices.Sort(group)
		for _, importPath := range group {
			name := im.names[importPath] + " "
			if name == path.Base(importPath)+" " {
				name = ""
			}
			b.WriteString("\t" + name + `"` + importPath + "\"\n")
		}
		b.WriteString("\n")
	}
	b.WriteString(")\n\n")
}
