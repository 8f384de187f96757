package marker

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
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
	if tidy := strings.TrimSpace(name) + text[len(name):]; tidy != text && r.knows(tidy) {
		r.idle(at, len(text)+1, "write +"+tidy, "a blank beside the marker's name hides it")
		return
	}
	if near := r.shortMarker(name); near != "" {
		r.idle(at, len(name)+1, fmt.Sprintf("did you mean +%s?", near), "no generator knows the marker +%s", name)
		return
	}
	meant := family(name)
	if meant == "" {
		return
	}
	for _, prefix := range foreign {
		if strings.HasPrefix(name, prefix) {
			return
		}
	}
	var names []string
	for _, d := range r.c.known.Definitions() {
		names = append(names, d.Name)
	}
	fix := ""
	if near := cmp.Or(nearestMarker(meant, names), elsewhere(strings.TrimPrefix(meant, kubebuilder+":"), names)); near != "" {
		fix = fmt.Sprintf("did you mean +%s?", near)
	}
	r.idle(at, len(name)+1, fix, "no generator knows the marker +%s", name)
}

// idle records a marker without effect.
func (r *reader) idle(at token.Pos, length int, fix, format string, args ...any) {
	r.c.doubts.Add(diag.Mistake{Pos: r.pkg.Fset().Position(at), Len: length, What: fmt.Sprintf(format, args...), Fix: fix})
}

// doubtArgument records a name for an argument that has none, which may as well be a misspelt part of the marker's name.
func (r *reader) doubtArgument(d Definition, text, args string, at token.Pos) {
	if r.c.doubts == nil || !r.pkg.Root || !d.sole {
		return
	}
	name, _ := splitName(text)
	if argument, ok := strings.CutPrefix(name, d.Name+":"); ok {
		r.idle(at+token.Pos(len(d.Name)+2), len(argument), fmt.Sprintf("write +%s=%s", d.Name, args), "the value of +%s has no name: %q has no effect", d.Name, argument)
	}
}

// doubtBehind records markers in a comment behind a field.
func (r *reader) doubtBehind(group *ast.CommentGroup) {
	if group == nil || r.c.doubts == nil || !r.pkg.Root {
		return
	}
	for _, comment := range group.List {
		if text, offset, ok := markerText(comment.Text); ok && r.knows(text) {
			r.idle(comment.Pos()+token.Pos(offset), len(text)+1, "put it in a comment above the field", "a marker behind a field is not read")
		}
	}
}

// renames tells an alias that is another name for a declared type. What stands for a basic type or a list is as good as a type of its own.
func renames(decl *load.Decl) bool {
	if !decl.Spec.Assign.IsValid() {
		return false
	}
	switch t := decl.Spec.Type.(type) {
	case *ast.SelectorExpr:
		return true
	case *ast.Ident:
		return decl.Package.Lookup(t.Name) != nil
	}
	return false
}

// doubtAlias records validation of an alias, which is but another name for a type within its package.
func (r *reader) doubtAlias(name string) {
	if r.c.doubts == nil || !r.pkg.Root {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(r.places)) {
		if strings.HasPrefix(key, kubebuilder+":validation:") {
			for _, at := range r.places[key] {
				r.idle(at.Pos, at.Len, "put it on the type that it stands for, or on fields, or leave out the equals sign of the declaration", "+%s has no effect on fields of type %s in its package, because it is an alias", key, name)
			}
		}
	}
}

// knows reports whether some generator knows a marker.
func (r *reader) knows(text string) bool {
	_, _, ok := r.c.known.Lookup(text, OnPackage|OnType|OnField)
	return ok
}

const kubebuilder = "kubebuilder"

// family is the name if it is one of kubebuilder's, or that with the family's name put right; empty for the markers of others.
func family(name string) string {
	head, rest, ok := strings.Cut(name, ":")
	if !ok || distance(strings.ToLower(head), kubebuilder, 3) > 2 {
		return ""
	}
	return kubebuilder + ":" + rest
}

// shortMarker is the marker without a family, such as optional or listType, that a name is a slip of; empty for none. Many tools have markers with short
// names, so that little may be wrong.
func (r *reader) shortMarker(name string) string {
	allowed := min(2, len(name)/4)
	for _, d := range r.c.known.Definitions() {
		if !strings.Contains(d.Name, ":") && distance(strings.ToLower(name), strings.ToLower(d.Name), allowed+1) <= allowed {
			return d.Name
		}
	}
	return ""
}

// doubtComment records what was probably meant for a marker and is none, because its plus sign is missing or it is in a block comment.
func (r *reader) doubtComment(comment *ast.Comment) {
	if r.c.doubts == nil || !r.pkg.Root {
		return
	}
	if text, ok := strings.CutPrefix(comment.Text, "//"); ok {
		if text = strings.TrimSpace(text); strings.HasPrefix(text, kubebuilder+":") && r.knows(text) {
			r.idle(comment.Pos(), len(comment.Text), "write // +"+text, "a marker begins with a plus sign")
		}
		return
	}
	offset := 0
	for line := range strings.Lines(comment.Text) {
		text, ok := strings.CutPrefix(strings.TrimLeft(line, " \t*/"), "+")
		if text = strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(text), "*/"), " \t"); ok && r.knows(text) {
			r.idle(comment.Pos()+token.Pos(offset+strings.IndexByte(line, '+')), len(text)+1, "write // +"+text, "markers in block comments are not read")
		}
		offset += len(line)
	}
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
	if i > len(kubebuilder+":") {
		return nearestMarker(name[:i-1], names)
	}
	return ""
}

// elsewhere finds the marker whose last part is one of the name's parts, or begins like it, in whatever family.
func elsewhere(name string, names []string) string {
	for _, word := range slices.Backward(strings.Split(strings.ToLower(name), ":")) {
		best, bestLast := "", ""
		for _, n := range names {
			last := strings.ToLower(n[strings.LastIndexByte(n, ':')+1:])
			switch {
			case strings.Contains(n, ":items:"):
			case last == word && (bestLast != word || strings.HasPrefix(n, kubebuilder)):
				best, bestLast = n, last
			case bestLast == word:
			case len(word) > 2 && strings.HasPrefix(last, word) && (best == "" || len(last) < len(bestLast)):
				best, bestLast = n, last
			}
		}
		if best != "" {
			return best
		}
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

		OnType | OnField: "put it in the comment of a type or field",
	}[on]
	r.c.doubts.Add(diag.Mistake{
		Pos: r.pkg.Fset().Position(at), Len: len(text) + 1,
		What: fmt.Sprintf("+%s has no effect here, it is a marker of a %s", d.Name, on),
		Fix:  fix,
	})
}
