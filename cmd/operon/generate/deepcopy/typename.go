package deepcopy

import (
	"fmt"
	"go/types"
)

// name returns a type as the generated file writes it.
func (w *writer) name(t types.Type) string {
	switch t := t.(type) {
	case *types.Named:
		return w.qualified(t.Obj()) + w.arguments(t.TypeArgs())
	case *types.Alias:
		if t.Obj().Pkg() == nil {
			w.inexpressible(t)
			return "any"
		}
		return w.qualified(t.Obj()) + w.arguments(t.TypeArgs())
	case *types.Basic:
		return t.Name()
	case *types.Slice:
		return "[]" + w.name(t.Elem())
	case *types.Pointer:
		return "*" + w.name(t.Elem())
	case *types.TypeParam:
		return t.Obj().Name()
	case *types.Map:
		key := w.name(t.Key())
		return "map[" + key + "]" + w.name(t.Elem())
	case *types.Struct:
		w.anonymous(t)
	default:
		w.inexpressible(t)
	}
	return types.TypeString(t, w.relative)
}

func (w *writer) qualified(obj *types.TypeName) string {
	if obj.Pkg() == nil || obj.Pkg() == w.file.imports.own {
		return obj.Name()
	}
	return w.file.imports.name(obj.Pkg().Path()) + "." + obj.Name()
}

func (w *writer) arguments(args *types.TypeList) string {
	if args.Len() == 0 {
		return ""
	}
	list := ""
	for arg := range args.Types() {
		if list != "" {
			list += ", "
		}
		list += w.name(arg)
	}
	return "[" + list + "]"
}

// relative qualifies the names of other packages in messages.
func (w *writer) relative(pkg *types.Package) string {
	if pkg == w.file.imports.own {
		return ""
	}
	return pkg.Name()
}

// inexpressible reports a type of which no generated code can make a copy.
func (w *writer) inexpressible(t types.Type) {
	what, fix := "a "+types.TypeString(t, w.relative), "leave it out of the API, or write DeepCopyInto for the struct by hand"
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		w.file.mistake(w.at.Pos(), len(w.at.Name()), w.subject()+"a value of type parameter "+t.String()+" cannot be deep-copied, it may be of any type",
			"write DeepCopyInto for the generic type by hand")
		return
	}
	switch t.Underlying().(type) {
	case *types.Interface:
		what = fmt.Sprintf("a value of interface type %s", types.TypeString(t, w.relative))
		fix = "name a concrete type; for arbitrary JSON use apiextensionsv1.JSON or runtime.RawExtension"
		if w.isType() {
			fix = "mark the type with +kubebuilder:object:generate=false"
		}
	case *types.Array:
		what = fmt.Sprintf("an array, %s,", types.TypeString(t, w.relative))
		fix = "use a slice, or a named type with a hand-written DeepCopyInto"
	case *types.Signature:
		what = "a function"
	case *types.Chan:
		what = "a channel"
	}
	if w.isType() && !isInterface(t) {
		fix = "mark the type with +kubebuilder:object:generate=false, or write its DeepCopyInto by hand"
	}
	w.file.mistake(w.at.Pos(), len(w.at.Name()), w.subject()+what+" cannot be deep-copied", fix)
}

func (w *writer) badKey(t types.Type) {
	w.file.mistake(w.at.Pos(), len(w.at.Name()), w.subject()+types.TypeString(t, w.relative)+" cannot be the key of a map that is deep-copied",
		"use a string, or another plain type")
}

func (w *writer) anonymous(t types.Type) {
	w.file.mistake(w.at.Pos(), len(w.at.Name()), w.subject()+"a struct without a name has no methods to deep-copy it: "+types.TypeString(t, w.relative),
		"give the struct a name of its own")
}

func (w *writer) isType() bool {
	_, ok := w.at.(*types.TypeName)
	return ok
}

func (w *writer) subject() string {
	if w.isType() {
		return "type " + w.at.Name() + ": "
	}
	return "field " + w.at.Name() + ": "
}

func isInterface(t types.Type) bool {
	_, ok := t.Underlying().(*types.Interface)
	return ok
}
