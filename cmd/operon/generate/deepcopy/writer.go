package deepcopy

import (
	"go/types"
	"strings"
)

// writer writes the methods of one type. Every block it writes finds the pointers in and out in scope, to the value that
// is copied and to the place for the copy.
type writer struct {
	file   *file
	at     types.Object // what a mistake is about: the type, or the field being copied
	b      strings.Builder
	indent int
}

// line writes a line, made of parts.
func (w *writer) line(parts ...string) {
	if len(parts) > 0 {
		for range w.indent {
			w.b.WriteByte('\t')
		}
	}
	for _, p := range parts {
		w.b.WriteString(p)
	}
	w.b.WriteByte('\n')
}

// open writes a line and indents what follows.
func (w *writer) open(parts ...string) {
	w.line(parts...)
	w.indent++
}

// shut ends the indentation and writes a line.
func (w *writer) shut(parts ...string) {
	w.indent--
	w.line(parts...)
}

// otherwise ends one branch and begins the next.
func (w *writer) otherwise() {
	w.indent--
	w.open("} else {")
}

// whole copies a whole value.
func (w *writer) whole(t types.Type) {
	switch u := t.Underlying().(type) {
	case *types.Map:
		w.mapping(t, u)
	case *types.Slice:
		w.slice(t, u)
	case *types.Pointer:
		w.pointer(u)
	case *types.Struct:
		w.structure(u)
	default:
		w.inexpressible(t)
	}
}

// structure copies a struct: all of it by assignment, then the fields that an assignment does not copy.
func (w *writer) structure(s *types.Struct) {
	w.line("*out = *in")
	typ := w.at
	for field := range s.Fields() {
		w.at = field
		w.field(field)
	}
	w.at = typ
}

func (w *writer) field(field *types.Var) {
	t := field.Type()
	name := field.Name()
	if _, pointer := t.(*types.Pointer); !pointer {
		if m := handWritten(t); m.any() {
			if m.value {
				w.line("out.", name, " = in.", name, ".DeepCopy()")
			} else {
				w.line("in.", name, ".DeepCopyInto(&out.", name, ")")
			}
			return
		}
	}
	switch t.Underlying().(type) {
	case *types.Basic:
		if !shallow(t.Underlying()) {
			w.inexpressible(t)
		}
	case *types.Map, *types.Slice, *types.Pointer:
		w.open("if in.", name, " != nil {")
		w.line("in, out := &in.", name, ", &out.", name)
		w.whole(t)
		w.shut("}")
	case *types.Struct:
		if shallow(t) {
			w.line("out.", name, " = in.", name)
			return
		}
		if _, anonymous := t.(*types.Struct); anonymous {
			w.anonymous(t)
			return
		}
		w.line("in.", name, ".DeepCopyInto(&out.", name, ")")
	default:
		w.inexpressible(t)
	}
}

// mapping copies a map, of type t.
func (w *writer) mapping(t types.Type, m *types.Map) {
	if !shallow(m.Key()) {
		w.badKey(m.Key())
		return
	}
	value := m.Elem()
	w.line("*out = make(", w.name(t), ", len(*in))")
	w.open("for key, val := range *in {")
	defer w.shut("}")
	if hand := handWritten(value); hand.any() {
		_, pointer := types.Unalias(value).(*types.Pointer)
		switch {
		case pointer == !hand.value:
			w.line("(*out)[key] = val.DeepCopy()")
		case pointer:
			w.open("{")
			w.line("x := val.DeepCopy()")
			w.line("(*out)[key] = &x")
			w.shut("}")
		default:
			w.line("(*out)[key] = *val.DeepCopy()")
		}
		return
	}
	switch u := value.Underlying().(type) {
	case *types.Map, *types.Slice, *types.Pointer:
		w.line("var outVal ", w.name(u))
		w.open("if val == nil {")
		w.line("(*out)[key] = nil")
		w.otherwise()
		w.line("inVal := (*in)[key]")
		w.line("in, out := &inVal, &outVal")
		w.whole(value)
		w.shut("}")
		w.line("(*out)[key] = outVal")
	case *types.Basic, *types.Struct:
		switch {
		case shallow(value):
			w.line("(*out)[key] = val")
		case isBasic(u):
			w.file.mistake(w.at.Pos(), len(w.at.Name()), "an alias of a plain type cannot be the value of a map that is deep-copied: "+types.TypeString(value, w.relative),
				"declare a type of its own, without the =, or write the plain type")
		default:
			w.line("(*out)[key] = *val.DeepCopy()")
		}
	default:
		w.inexpressible(value)
	}
}

// slice copies a slice, of type t.
func (w *writer) slice(t types.Type, s *types.Slice) {
	elem := s.Elem()
	w.line("*out = make(", w.name(t), ", len(*in))")
	hand := handWritten(elem).any()
	if !hand && shallow(elem.Underlying()) {
		w.line("copy(*out, *in)")
		return
	}
	w.open("for i := range *in {")
	defer w.shut("}")
	if hand {
		w.line("(*in)[i].DeepCopyInto(&(*out)[i])")
		return
	}
	switch elem.Underlying().(type) {
	case *types.Map, *types.Slice, *types.Pointer:
		w.open("if (*in)[i] != nil {")
		w.line("in, out := &(*in)[i], &(*out)[i]")
		w.whole(elem)
		w.shut("}")
	case *types.Struct:
		w.line("(*in)[i].DeepCopyInto(&(*out)[i])")
	default:
		w.inexpressible(elem)
	}
}

// pointer copies what a pointer points to.
func (w *writer) pointer(p *types.Pointer) {
	elem := p.Elem()
	if hand := handWritten(elem); hand.any() {
		if hand.value {
			w.line("x := (*in).DeepCopy()")
			w.line("*out = &x")
		} else {
			w.line("*out = (*in).DeepCopy()")
		}
		return
	}
	if shallow(elem.Underlying()) {
		w.line("*out = new(", w.name(elem), ")")
		w.line("**out = **in")
		return
	}
	switch elem.Underlying().(type) {
	case *types.Map, *types.Slice, *types.Pointer:
		w.line("*out = new(", w.name(elem), ")")
		w.open("if **in != nil {")
		w.line("in, out := *in, *out")
		w.whole(elem)
		w.shut("}")
	case *types.Struct:
		w.line("*out = new(", w.name(elem), ")")
		w.line("(*in).DeepCopyInto(*out)")
	default:
		w.inexpressible(elem)
	}
}

func isBasic(t types.Type) bool {
	_, ok := t.(*types.Basic)
	return ok
}
