package predicate

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-dev/operon/pkg/event"
)

// And returns a predicate that answers true where all of predicates do, and where there are none. It asks no
// further after the first false.
func And[object any](predicates ...TypedPredicate[object]) TypedPredicate[object] {
	return and[object](predicates)
}

// Or returns a predicate that answers true where one of predicates does. It asks no further after the first true.
func Or[object any](predicates ...TypedPredicate[object]) TypedPredicate[object] {
	return or[object](predicates)
}

// Not returns a predicate that answers the opposite of predicate.
func Not[object any](predicate TypedPredicate[object]) TypedPredicate[object] {
	return not[object]{predicate}
}

type and[object any] []TypedPredicate[object]

func (a and[object]) Create(e event.TypedCreateEvent[object]) bool {
	for _, p := range a {
		if !p.Create(e) {
			return false
		}
	}
	return true
}

func (a and[object]) Delete(e event.TypedDeleteEvent[object]) bool {
	for _, p := range a {
		if !p.Delete(e) {
			return false
		}
	}
	return true
}

func (a and[object]) Update(e event.TypedUpdateEvent[object]) bool {
	for _, p := range a {
		if !p.Update(e) {
			return false
		}
	}
	return true
}

func (a and[object]) Generic(e event.TypedGenericEvent[object]) bool {
	for _, p := range a {
		if !p.Generic(e) {
			return false
		}
	}
	return true
}

type or[object any] []TypedPredicate[object]

func (o or[object]) Create(e event.TypedCreateEvent[object]) bool {
	for _, p := range o {
		if p.Create(e) {
			return true
		}
	}
	return false
}

func (o or[object]) Delete(e event.TypedDeleteEvent[object]) bool {
	for _, p := range o {
		if p.Delete(e) {
			return true
		}
	}
	return false
}

func (o or[object]) Update(e event.TypedUpdateEvent[object]) bool {
	for _, p := range o {
		if p.Update(e) {
			return true
		}
	}
	return false
}

func (o or[object]) Generic(e event.TypedGenericEvent[object]) bool {
	for _, p := range o {
		if p.Generic(e) {
			return true
		}
	}
	return false
}

type not[object any] struct{ of TypedPredicate[object] }

func (n not[object]) Create(e event.TypedCreateEvent[object]) bool   { return !n.of.Create(e) }
func (n not[object]) Delete(e event.TypedDeleteEvent[object]) bool   { return !n.of.Delete(e) }
func (n not[object]) Update(e event.TypedUpdateEvent[object]) bool   { return !n.of.Update(e) }
func (n not[object]) Generic(e event.TypedGenericEvent[object]) bool { return !n.of.Generic(e) }

// changed compares an update's two states. An update that lacks one of them is dropped: there is nothing to compare.
func changed[T metav1.Object](e event.TypedUpdateEvent[T], differ func(a, b T) bool) bool {
	return !missing(e.ObjectOld) && !missing(e.ObjectNew) && differ(e.ObjectOld, e.ObjectNew)
}

// missing sees a nil pointer inside an interface, too: a source that knows only one state may well pass one.
func missing[T any](o T) bool {
	v := reflect.ValueOf(o)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
