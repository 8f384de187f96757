package main

import "go/types"

// nameable reports whether a type can be written in another module: nothing in it is unexported or internal.
func nameable(t types.Type) bool {
	switch t := t.(type) {
	case *types.Basic, *types.TypeParam, nil:
		return true
	case *types.Alias:
		return nameableObject(t.Obj()) && nameableArgs(t.TypeArgs())
	case *types.Named:
		return nameableObject(t.Obj()) && nameableArgs(t.TypeArgs())
	case *types.Pointer:
		return nameable(t.Elem())
	case *types.Slice:
		return nameable(t.Elem())
	case *types.Array:
		return nameable(t.Elem())
	case *types.Chan:
		return nameable(t.Elem())
	case *types.Map:
		return nameable(t.Key()) && nameable(t.Elem())
	case *types.Signature:
		return nameableVars(t.Params()) && nameableVars(t.Results())
	case *types.Struct:
		for f := range t.Fields() {
			if !f.Exported() || !nameable(f.Type()) {
				return false
			}
		}
		return true
	case *types.Union:
		for term := range t.Terms() {
			if !nameable(term.Type()) {
				return false
			}
		}
		return true
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			if !m.Exported() || !nameable(m.Type()) {
				return false
			}
		}
		for e := range t.EmbeddedTypes() {
			if !nameable(e) {
				return false
			}
		}
		return true
	}
	return false
}

func nameableObject(o *types.TypeName) bool {
	return o.Pkg() == nil || o.Exported() && !internal(o.Pkg().Path())
}

func nameableArgs(args *types.TypeList) bool {
	for t := range args.Types() {
		if !nameable(t) {
			return false
		}
	}
	return true
}

func nameableVars(vars *types.Tuple) bool {
	for v := range vars.Variables() {
		if !nameable(v.Type()) {
			return false
		}
	}
	return true
}
