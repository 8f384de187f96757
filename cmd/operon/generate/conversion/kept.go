package conversion

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// kept is a field that is kept in an annotation while its object is of the other version.
type kept struct {
	// path is where it is in the object, in Go and in JSON; pointers are the pointers on the way there.
	path, json string
	pointers   []string
	typ        types.Type
}

// annotationPrefix, with a version behind it, is the annotation that keeps what that version has and the object's does not.
const annotationPrefix = "conversion.operon.dev/"

// keptOf lists the fields of a kind that are to be kept.
func (c *converter) keptOf(t *types.Named) []kept {
	var out []kept
	var walk func(t *types.Named, at kept, above []string)
	walk = func(t *types.Named, at kept, above []string) {
		if slices.Contains(above, typeKey(t)) {
			return
		}
		above = append(slices.Clip(above), typeKey(t))
		for _, f := range c.sides(t) {
			k := kept{path: at.path + "." + f.Name(), json: strings.Trim(at.json+"."+jsonName(t, f.Var), "."), pointers: at.pointers, typ: f.Type()}
			if f.kept() {
				out = append(out, k)
				continue
			}
			inner := types.Unalias(f.Type())
			if p, ok := inner.(*types.Pointer); ok {
				inner = types.Unalias(p.Elem())
				k.pointers = append(append([]string(nil), at.pointers...), k.path)
			}
			if named, ok := inner.(*types.Named); ok && isStruct(named) && c.fieldMarkersBelow(named) {
				walk(named, k, above)
			}
		}
	}
	walk(t, kept{}, nil)
	return out
}

// fieldMarkersBelow reports whether a struct, or one that it mentions, may have markers: its package has some.
func (c *converter) fieldMarkersBelow(t *types.Named) bool {
	pkg := c.packageOf(t)
	return pkg != nil && pkg.Mentions("+"+keepMarker)
}

// misplaced reports fields that are to be kept and are inside of lists or maps, where nobody would find the place again.
func (c *converter) misplaced(t *types.Named) {
	type visit struct {
		t    string
		list bool
	}
	seen := map[visit]bool{}
	var walk func(t types.Type, list bool)
	walk = func(t types.Type, list bool) {
		switch t := types.Unalias(t).(type) {
		case *types.Pointer:
			walk(t.Elem(), list)
		case *types.Slice:
			walk(t.Elem(), true)
		case *types.Map:
			walk(t.Elem(), true)
		case *types.Named:
			if !isStruct(t) {
				walk(t.Underlying(), list)
				return
			}
			if seen[visit{typeKey(t), list}] || !c.fieldMarkersBelow(t) {
				return
			}
			seen[visit{typeKey(t), list}] = true
			for _, f := range c.sides(t) {
				if f.kept() && list {
					c.mistake(f.Pos(), len(f.Name()), "let it go with +"+dropMarker+", or write a function for what holds it",
						"%s.%s is in a list or map, from whose annotation it would not find back", c.source(t), f.Name())
					continue
				}
				walk(f.Type(), list)
			}
		}
	}
	walk(t, false)
}

// keptType writes the type of what an annotation holds, and returns its name.
func (c *converter) keptType(name string, fields []kept) string {
	c.printf("// %s is what an annotation keeps.\ntype %s struct {\n", name, name)
	for i, f := range fields {
		c.printf("F%d %s `json:%q`\n", i, c.source(f.typ), f.json+",omitzero")
	}
	c.printf("}\n\n")
	return name
}

// guarded puts statements behind the condition that the pointers on a field's way are there.
func (k kept) guarded(variable, statement string) string {
	if len(k.pointers) == 0 {
		return statement
	}
	var conditions []string
	for _, p := range k.pointers {
		conditions = append(conditions, variable+p+" != nil")
	}
	return fmt.Sprintf("if %s {\n%s}\n", strings.Join(conditions, " && "), statement)
}
