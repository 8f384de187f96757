package marker

import (
	"fmt"
	"go/token"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// foreign are prefixes of markers that belong to tools which are not generators.
var foreign = []string{"kubebuilder:scaffold", "kubebuilder:docs-gen", "kubebuilder:doc"}

// doubt records a marker that will have no effect: one that nobody knows but whose name says that it is meant for a generator, or one in
// a place where it is not looked for.
func (r *reader) doubt(text string, at token.Pos, allowed Target) {
	if r.c.doubts == nil || !r.pkg.Root {
		return
	}
	name, _ := splitName(text)
	if d, _, ok := r.c.known.Lookup(text, OnPackage|OnType|OnField); ok {
		r.doubtPlace(d, text, at, allowed)
		return
	}
	if !strings.HasPrefix(name, "kubebuilder:") {
		return
	}
	for _, prefix := range foreign {
		if strings.HasPrefix(name, prefix) {
			return
		}
	}
	m := diag.Mistake{
		Pos: r.pkg.Fset().Position(at), Len: len(name) + 1,
		What: fmt.Sprintf("no generator knows the marker +%s", name),
	}
	var names []string
	for _, d := range r.c.known.Definitions() {
		names = append(names, d.Name)
	}
	if near := nearestMarker(name, names); near != "" {
		m.Fix = fmt.Sprintf("did you mean +%s?", near)
	}
	r.c.doubts.Add(m)
}

// nearestMarker compares the last parts of names that are the same otherwise, and then whole names; the last part of a name may also be an
// argument that is not known.
func nearestMarker(name string, names []string) string {
	i := strings.LastIndexByte(name, ':') + 1
	var last []string
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, name[:i]); ok && !strings.Contains(rest, ":") {
			last = append(last, rest)
		}
	}
	if near := Nearest(name[i:], last); near != "" {
		return name[:i] + near
	}
	for _, n := range names {
		if Distance(strings.ToLower(name), strings.ToLower(n)) <= 2 {
			return n
		}
	}
	if i > len("kubebuilder:") {
		return nearestMarker(name[:i-1], names)
	}
	return ""
}

func (r *reader) doubtPlace(d Definition, text string, at token.Pos, allowed Target) {
	var on Target
	for _, have := range r.c.known.defs[d.Name] {
		on |= have.On
	}
	if on&allowed != 0 {
		return
	}
	fix := map[Target]string{
		OnPackage: "put it in a comment of its own, with a blank line below it",
		OnType:    "put it in the comment of a type",
		OnField:   "put it in the comment of a field",
	}[on]
	r.c.doubts.Add(diag.Mistake{
		Pos: r.pkg.Fset().Position(at), Len: len(text) + 1,
		What: fmt.Sprintf("+%s has no effect here, it is a marker of a %s", d.Name, on),
		Fix:  fix,
	})
}
