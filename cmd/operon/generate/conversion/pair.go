package conversion

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// pair is two structs, of which the one becomes the other.
type pair struct {
	from, to *types.Named
	// lenient leaves out fields that cannot be converted: a person's function sees to them.
	lenient bool
	// object has the type's own metadata left out.
	object bool
}

// name is that of the pair's function.
func (c *converter) name(p pair) string {
	key := fmt.Sprint(p.lenient, " ", typeKey(p.from), " ", typeKey(p.to))
	if name, ok := c.names[key]; ok {
		return name
	}
	prefix := "convert"
	if p.lenient {
		prefix = "autoConvert"
	}
	name := prefix + c.spoken(p.from) + "To" + c.spoken(p.to)
	// What types are made of may read the same: of two arguments that have no names, say.
	for base, n := name, 2; c.taken[name]; n++ {
		name = fmt.Sprint(base, n)
	}
	c.names[key], c.taken[name] = name, true
	return name
}

// spoken is a type's name as a part of a function's name, with the type arguments that it has: BoxOfPart for Box[Part].
func (c *converter) spoken(t *types.Named) string {
	name := t.Obj().Name()
	if t.Obj().Pkg() != nil && t.Obj().Pkg().Path() != c.pkg.Path {
		name = upperFirst(c.imports.name(t.Obj().Pkg().Path())) + upperFirst(name)
	}
	for i := range t.TypeArgs().Len() {
		name += []string{"Of", "And"}[min(i, 1)] + c.spokenAny(t.TypeArgs().At(i))
	}
	return upperFirst(name)
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// want has the pair's function written, and returns its name.
func (c *converter) want(p pair) string {
	name := c.name(p)
	if !c.done[name] {
		c.done[name] = true
		c.queue = append(c.queue, p)
	}
	return name
}

// side is a field of a struct with what its markers say.
type side struct {
	*types.Var
	markers marker.Values
}

func (s side) dropped() bool { return s.markers.Has(dropMarker) }
func (s side) kept() bool    { return s.markers.Has(keepMarker) }

// sides lists the fields of a struct that conversion is about: exported ones, and those with a json tag.
func (c *converter) sides(t *types.Named) []side {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	markers := c.fieldMarkers(t)
	var out []side
	for i := range st.NumFields() {
		f := st.Field(i)
		if !f.Exported() && !strings.Contains(st.Tag(i), `json:"`) {
			continue
		}
		out = append(out, side{f, markers[f.Name()]})
	}
	return out
}

// fieldMarkers reads the markers of the fields of a type, by their names.
func (c *converter) fieldMarkers(t *types.Named) map[string]marker.Values {
	pkg := c.packageOf(t)
	if pkg == nil || !pkg.Mentions("+operon:conversion:") {
		return nil
	}
	info := c.in.Markers.Type(pkg, t.Obj().Name())
	if info == nil {
		return nil
	}
	out := map[string]marker.Values{}
	for i := range info.Fields {
		f := &info.Fields[i]
		name := f.Name
		if name == "" {
			name = embeddedName(f.Raw.Type)
		}
		out[name] = f.Markers
	}
	return out
}

func (c *converter) packageOf(t *types.Named) *load.Package {
	if t.Obj().Pkg() == nil {
		return nil
	}
	if t.Obj().Pkg().Path() == c.pkg.Path {
		return c.pkg
	}
	pkg, err := c.pkg.Import(t.Obj().Pkg().Path())
	if err != nil {
		return nil
	}
	return pkg
}

func embeddedName(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.IndexExpr:
		return embeddedName(e.X)
	case *ast.IndexListExpr:
		return embeddedName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// counterpart finds the field that another becomes: the one that its marker names, or whose marker names it, or of its name.
func counterpart(f side, others []side) (side, bool) {
	if name, ok := marker.First[Counterpart](f.markers, fieldMarker); ok {
		return named(others, string(name))
	}
	for _, o := range others {
		if name, ok := marker.First[Counterpart](o.markers, fieldMarker); ok && string(name) == f.Name() {
			return o, true
		}
	}
	o, ok := named(others, f.Name())
	if _, elsewhere := marker.First[Counterpart](o.markers, fieldMarker); ok && elsewhere {
		return side{}, false
	}
	return o, ok
}

func named(all []side, name string) (side, bool) {
	for _, s := range all {
		if s.Name() == name {
			return s, true
		}
	}
	return side{}, false
}

// function writes the function of a pair.
func (c *converter) function(p pair) {
	name := c.name(p)
	from, to := c.source(p.from), c.source(p.to)
	var b strings.Builder
	others := c.sides(p.to)
	for _, f := range c.sides(p.from) {
		if p.object && isMeta(f.Var, "TypeMeta") {
			continue
		}
		other, ok := counterpart(f, others)
		if f.dropped() || f.kept() || ok && (other.dropped() || other.kept()) {
			if ok && !p.lenient && (f.dropped() || f.kept()) {
				c.mistake(f.Pos(), len(f.Name()), "take the marker away", "%s.%s is marked as one that the other version does not have, and becomes %s.%s",
					c.source(p.from), f.Name(), to, other.Name())
			}
			continue
		}
		if !ok {
			if !p.lenient {
				c.lost(p, f)
			}
			continue
		}
		v := value{converter: c, from: f.Type(), to: other.Type(), in: "in." + f.Name(), out: "out." + other.Name(), label: label{text: strings.ReplaceAll(jsonName(p.from, f.Var), "%", "%%")}}
		if why := v.write(&b); why != "" && !p.lenient {
			c.mistake(f.Pos(), len(f.Name()), c.byHand(f.Type(), other.Type()), "%s.%s does not become %s.%s by itself: %s", from, f.Name(), to, other.Name(), why)
		}
	}
	c.printf("// %[1]s fills a %[3]s, which is empty, from a %[2]s.\nfunc %[1]s(in *%[2]s, out *%[3]s) error {\n%[4]s\treturn nil\n}\n\n", name, from, to, b.String())
}

// lost reports a field that has no counterpart.
func (c *converter) lost(p pair, f side) {
	if name, ok := marker.First[Counterpart](f.markers, fieldMarker); ok {
		c.mistake(f.Pos(), len(f.Name()), "name one that it has", "%s has no field %s, which %s.%s is to become", c.source(p.to), name, c.source(p.from), f.Name())
		return
	}
	c.mistake(f.Pos(), len(f.Name()),
		fmt.Sprintf("name its counterpart with +%s=NAME, let it go with +%s, keep it in an annotation with +%s, or write %s", fieldMarker, dropMarker, keepMarker, c.signature(p.from, p.to)),
		"%s.%s has no counterpart in %s", c.source(p.from), f.Name(), c.source(p.to))
}

// byHand tells what function a person would write.
func (c *converter) byHand(from, to types.Type) string { return "write " + c.signature(from, to) }

func (c *converter) signature(from, to types.Type) string {
	return fmt.Sprintf("func convert%sTo%s(in *%s, out *%s) error", c.spokenAny(from), c.spokenAny(to), c.source(from), c.source(to))
}

func (c *converter) spokenAny(t types.Type) string {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return c.spoken(t)
	case *types.Basic:
		return upperFirst(t.Name())
	case *types.Pointer:
		return c.spokenAny(t.Elem()) + "Pointer"
	case *types.Slice:
		return c.spokenAny(t.Elem()) + "List"
	case *types.Map:
		return c.spokenAny(t.Elem()) + "Map"
	}
	return "Value"
}

// source writes a type in Go.
func (c *converter) source(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == c.pkg.Path {
			return ""
		}
		return c.imports.name(p.Path())
	})
}

// jsonName is what a field is called in an object, and empty where its fields are the object's own.
func jsonName(t *types.Named, f *types.Var) string {
	st, ok := t.Underlying().(*types.Struct)
	if !ok {
		return f.Name()
	}
	for i := range st.NumFields() {
		if st.Field(i) != f {
			continue
		}
		name, _, _ := strings.Cut(reflect.StructTag(st.Tag(i)).Get("json"), ",")
		switch {
		case name != "" && name != "-":
			return name
		case f.Anonymous():
			return ""
		}
	}
	return f.Name()
}
