package applyconfiguration

import (
	"go/types"
	"strconv"
	"strings"
)

// typeName names a type: the path of its package, and its name there.
type typeName struct{ pkg, name string }

// form is what a type is to the generator. Types that are declared as a list, a map or something basic are names, which are not looked into.
type form uint8

const (
	other form = iota
	structure
	pointer
	list
	mapping
)

// shape is a type as the generator sees it: one of Go's, or a configuration in its place.
type shape struct {
	form form
	// name is empty for types that are not declared.
	name typeName
	// elem is what a pointer points to, and the element of a list or map; key is that of a map.
	elem, key *shape
	// typ is the Go type; nil for configurations, and for what is made of them.
	typ types.Type
}

// shapeOf looks at a Go type.
func shapeOf(t types.Type) *shape {
	t = types.Unalias(t)
	s := &shape{typ: t}
	if named, ok := t.(*types.Named); ok {
		s.name = nameOf(named)
		t = named.Underlying()
		switch t.(type) {
		case *types.Basic, *types.Map, *types.Slice:
			return s
		}
	}
	switch u := t.(type) {
	case *types.Struct:
		s.form = structure
	case *types.Pointer:
		s.form, s.elem = pointer, shapeOf(u.Elem())
	case *types.Slice:
		s.form, s.elem = list, shapeOf(u.Elem())
	case *types.Map:
		s.form, s.elem, s.key = mapping, shapeOf(u.Elem()), shapeOf(u.Key())
	}
	return s
}

func nameOf(named *types.Named) typeName {
	obj := named.Obj()
	if obj.Pkg() == nil {
		return typeName{name: obj.Name()}
	}
	return typeName{obj.Pkg().Path(), obj.Name()}
}

// nillable reports whether a field of the type can be absent as it is.
func (s *shape) nillable() bool { return s.form == list || s.form == mapping }

func (s *shape) deref() *shape {
	for s.form == pointer {
		s = s.elem
	}
	return s
}

func pointerTo(s *shape) *shape { return &shape{form: pointer, elem: s} }

// source writes the type in Go.
func (s *shape) source(im *imports) string {
	if s.name.name != "" {
		return im.qualifier(s.name.pkg) + s.name.name + arguments(s.typ, im)
	}
	switch s.form {
	case pointer:
		return "*" + s.elem.source(im)
	case list:
		return "[]" + s.elem.source(im)
	case mapping:
		return "map[" + s.key.source(im) + "]" + s.elem.source(im)
	}
	return unnamed(s.typ, im)
}

// arguments writes those of a generic type.
func arguments(t types.Type, im *imports) string {
	named, ok := t.(*types.Named)
	if !ok || named.TypeArgs().Len() == 0 {
		return ""
	}
	var args []string
	for arg := range named.TypeArgs().Types() {
		args = append(args, shapeOf(arg).source(im))
	}
	return "[" + strings.Join(args, ", ") + "]"
}

// unnamed writes the rest: basic types, and those written out in place.
func unnamed(t types.Type, im *imports) string {
	switch u := t.(type) {
	case *types.Basic:
		if u.Kind() == types.Uint8 {
			return "byte"
		}
		return u.Name()
	case *types.Array:
		return "[" + strconv.FormatInt(u.Len(), 10) + "]" + shapeOf(u.Elem()).source(im)
	case *types.Struct:
		var fields []string
		for f := range u.Fields() {
			fields = append(fields, f.Name()+" "+shapeOf(f.Type()).source(im))
		}
		return "struct{" + strings.Join(fields, "; ") + "}"
	case *types.Interface:
		if u.NumMethods() == 0 {
			return "any"
		}
	}
	return types.TypeString(t, func(p *types.Package) string { return strings.TrimSuffix(im.qualifier(p.Path()), ".") })
}

// spoken is the name of a type as a part of other names.
func (s *shape) spoken() string {
	if s.name.name != "" {
		return upperFirst(s.name.name)
	}
	switch s.form {
	case pointer:
		return "Pointer" + s.elem.spoken()
	case list:
		return "Slice" + s.elem.spoken()
	case mapping:
		return "Map" + s.key.spoken() + "To" + s.elem.spoken()
	}
	if b, ok := s.typ.(*types.Basic); ok {
		return upperFirst(b.Name())
	}
	return "Value"
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
