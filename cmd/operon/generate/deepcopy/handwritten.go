package deepcopy

import "go/types"

// manual says which deep-copy methods a type's author has written.
type manual struct {
	copy bool // DeepCopy
	into bool // DeepCopyInto

	// value says that DeepCopy takes and returns a value, not a pointer, or will when it is generated.
	value bool
}

func (m manual) any() bool { return m.copy || m.into }

// handWritten finds the deep-copy methods that a type, or what it points to, declares itself. Methods that it has from
// an embedded field do not count: they copy the field.
func handWritten(t types.Type) manual {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok {
		return manual{}
	}
	named = named.Origin()
	m := manual{value: byReference(named)}
	consider := func(method *types.Func) {
		sig := method.Signature()
		switch method.Name() {
		case "DeepCopy":
			if sig.Params().Len() != 0 || sig.Results().Len() != 1 {
				return
			}
			result := sig.Results().At(0).Type()
			receiver := sig.Recv().Type()
			if types.Identical(result, receiver) {
				m.copy = true
				_, pointer := types.Unalias(receiver).(*types.Pointer)
				m.value = !pointer
			}
		case "DeepCopyInto":
			if sig.Params().Len() != 1 || sig.Results().Len() != 0 {
				return
			}
			target, ok := types.Unalias(sig.Params().At(0).Type()).(*types.Pointer)
			receiver := sig.Recv().Type()
			if ok && (types.Identical(target, receiver) || types.Identical(target.Elem(), receiver)) {
				m.into = true
			}
		}
	}
	for method := range named.Methods() {
		consider(method)
	}
	if iface, ok := named.Underlying().(*types.Interface); ok {
		for method := range iface.Methods() {
			consider(method)
		}
	}
	return m
}

// byReference reports whether the methods of a type have a value receiver: it refers to what it holds already.
func byReference(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Map, *types.Slice, *types.Pointer:
		return true
	default:
		return false
	}
}

// shallow reports whether an assignment copies all of a value. It asks for the structure alone: a hand-written method
// may do more, but a struct that holds such a value is assigned.
func shallow(t types.Type) bool {
	switch t := t.(type) {
	case *types.Basic:
		return t.Kind() != types.UnsafePointer
	case *types.Named:
		return shallow(t.Underlying())
	case *types.Struct:
		for field := range t.Fields() {
			if !shallow(field.Type()) {
				return false
			}
		}
		return true
	default:
		return false
	}
}
