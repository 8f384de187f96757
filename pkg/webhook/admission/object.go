package admission

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// maker makes the empty objects that requests are decoded into.
type maker[T runtime.Object] func(Request) (T, error)

// makerOf returns a maker of objects of type T: of the struct it points to or, if T is an interface, of
// the type that the scheme has for the request's kind.
func makerOf[T runtime.Object](scheme *runtime.Scheme) maker[T] {
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Pointer {
		return func(Request) (T, error) { return reflect.New(t.Elem()).Interface().(T), nil }
	}
	return func(req Request) (T, error) {
		var none T
		kind := schema.GroupVersionKind{Group: req.Kind.Group, Version: req.Kind.Version, Kind: req.Kind.Kind}
		obj, err := scheme.New(kind)
		if err != nil {
			return none, err
		}
		typed, ok := obj.(T)
		if !ok {
			return none, fmt.Errorf("%T, the type of %s, is no %s", obj, kind, t)
		}
		return typed, nil
	}
}

// likeness returns a maker of objects of the same type as example.
func likeness(example runtime.Object) maker[runtime.Object] {
	return func(Request) (runtime.Object, error) {
		return reflect.New(reflect.TypeOf(example).Elem()).Interface().(runtime.Object), nil
	}
}
