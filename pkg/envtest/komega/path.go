package komega

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// pattern is a path as a user writes it, in pieces.
type pattern []string

func patterns(paths []string) []pattern {
	all := make([]pattern, 0, len(paths))
	for _, path := range paths {
		all = append(all, parse(path))
	}
	return all
}

// parse takes a path apart at dots and at brackets, whose content is one piece.
func parse(path string) pattern {
	var p pattern
	for path != "" {
		if inside, bracket := strings.CutPrefix(path, "["); bracket {
			piece, rest, _ := strings.Cut(inside, "]")
			p, path = append(p, piece), strings.TrimPrefix(rest, ".")
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			return append(p, path)
		}
		p = append(p, path[:end])
		path = strings.TrimPrefix(path[end:], ".")
	}
	return p
}

// A step leads from a value to one in it.
type step struct {
	// names are those that a path may use, in Go and in JSON.
	names []string
	// inline says that JSON has no name for the step.
	inline bool
}

// steps are those of a path that a user can name.
func steps(path cmp.Path) []step {
	var out []step
	var parent reflect.Type
	for _, s := range path {
		switch s := s.(type) {
		case cmp.StructField:
			out = append(out, fieldStep(parent, s))
		case cmp.MapIndex:
			out = append(out, step{names: []string{s.Key().String()}})
		case cmp.SliceIndex:
			out = append(out, step{names: []string{strconv.Itoa(index(s))}})
		}
		parent = s.Type()
	}
	return out
}

// index is where an element is, in either slice: one of the two is -1 where an element was added or is missing.
func index(s cmp.SliceIndex) int {
	want, got := s.SplitKeys()
	return max(want, got)
}

func fieldStep(parent reflect.Type, s cmp.StructField) step {
	out := step{names: []string{s.Name()}}
	if parent == nil || parent.Kind() != reflect.Struct || s.Index() >= parent.NumField() {
		return out
	}
	field := parent.Field(s.Index())
	json, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case json != "":
		out.names = append(out.names, json)
	case field.Anonymous || strings.Contains(options, "inline"):
		out.inline = true
	}
	return out
}

// name is the path as JSON has it.
func name(path []step) string {
	var b strings.Builder
	for _, s := range path {
		if s.inline {
			continue
		}
		piece := s.names[len(s.names)-1]
		switch {
		case strings.ContainsAny(piece, `.[]/\:`) || isNumber(piece):
			b.WriteString("[" + piece + "]")
		case b.Len() > 0:
			b.WriteString("." + piece)
		default:
			b.WriteString(piece)
		}
	}
	if b.Len() == 0 {
		return "the object"
	}
	return b.String()
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

// counts says whether a difference at the path is one.
func (o *EqualObjectOptions) counts(path []step) bool {
	for _, p := range o.ignored {
		if above, _ := relate(p, path); above {
			return false
		}
	}
	if len(o.matched) == 0 {
		return true
	}
	for _, p := range o.matched {
		if above, below := relate(p, path); above || below {
			return true
		}
	}
	return false
}

// relate says whether the pattern names the path or something above it, or something below it.
func relate(p pattern, path []step) (above, below bool) {
	switch {
	case len(p) == 0:
		return true, false
	case len(path) == 0:
		return false, true
	}
	for _, name := range path[0].names {
		if name == p[0] {
			if a, b := relate(p[1:], path[1:]); a || b {
				return a, b
			}
		}
	}
	if path[0].inline {
		return relate(p, path[1:])
	}
	return false, false
}
