package predicate

import (
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/event"
)

// Predicate says which events of any object are to be handled.
type Predicate = TypedPredicate[client.Object]

// TypedPredicate says which events are to be handled: those for which it answers true.
type TypedPredicate[object any] interface {
	Create(event.TypedCreateEvent[object]) bool
	Delete(event.TypedDeleteEvent[object]) bool
	Update(event.TypedUpdateEvent[object]) bool
	Generic(event.TypedGenericEvent[object]) bool
}

// Funcs is a Predicate made of functions.
type Funcs = TypedFuncs[client.Object]

// TypedFuncs is a predicate made of functions. A nil function answers true.
type TypedFuncs[object any] struct {
	CreateFunc  func(event.TypedCreateEvent[object]) bool
	DeleteFunc  func(event.TypedDeleteEvent[object]) bool
	UpdateFunc  func(event.TypedUpdateEvent[object]) bool
	GenericFunc func(event.TypedGenericEvent[object]) bool
}

// Create asks CreateFunc.
func (p TypedFuncs[object]) Create(e event.TypedCreateEvent[object]) bool {
	return p.CreateFunc == nil || p.CreateFunc(e)
}

// Delete asks DeleteFunc.
func (p TypedFuncs[object]) Delete(e event.TypedDeleteEvent[object]) bool {
	return p.DeleteFunc == nil || p.DeleteFunc(e)
}

// Update asks UpdateFunc.
func (p TypedFuncs[object]) Update(e event.TypedUpdateEvent[object]) bool {
	return p.UpdateFunc == nil || p.UpdateFunc(e)
}

// Generic asks GenericFunc.
func (p TypedFuncs[object]) Generic(e event.TypedGenericEvent[object]) bool {
	return p.GenericFunc == nil || p.GenericFunc(e)
}

// NewPredicateFuncs returns a predicate that asks filter about the object of every event; of an update, about
// the new state.
func NewPredicateFuncs(filter func(object client.Object) bool) Funcs {
	return NewTypedPredicateFuncs(filter)
}

// NewTypedPredicateFuncs returns a predicate that asks filter about the object of every event; of an update,
// about the new state.
func NewTypedPredicateFuncs[object any](filter func(object object) bool) TypedFuncs[object] {
	return TypedFuncs[object]{
		CreateFunc:  func(e event.TypedCreateEvent[object]) bool { return filter(e.Object) },
		DeleteFunc:  func(e event.TypedDeleteEvent[object]) bool { return filter(e.Object) },
		UpdateFunc:  func(e event.TypedUpdateEvent[object]) bool { return filter(e.ObjectNew) },
		GenericFunc: func(e event.TypedGenericEvent[object]) bool { return filter(e.Object) },
	}
}

// LabelSelectorPredicate returns a predicate for the objects that s selects; of an update, the new state
// counts. The error says what is wrong with s.
func LabelSelectorPredicate(s metav1.LabelSelector) (Predicate, error) {
	selector, err := metav1.LabelSelectorAsSelector(&s)
	if err != nil {
		return Funcs{}, err
	}
	return NewPredicateFuncs(func(o client.Object) bool {
		return selector.Matches(labels.Set(o.GetLabels()))
	}), nil
}

// Predicates about what an update changed. They let every create, delete and generic event pass.
type (
	// ResourceVersionChangedPredicate drops updates that changed nothing, as those of a resync.
	ResourceVersionChangedPredicate = TypedResourceVersionChangedPredicate[client.Object]

	// GenerationChangedPredicate drops updates that left metadata.generation as it was; see
	// TypedGenerationChangedPredicate.
	GenerationChangedPredicate = TypedGenerationChangedPredicate[client.Object]

	// AnnotationChangedPredicate drops updates that left the annotations as they were.
	AnnotationChangedPredicate = TypedAnnotationChangedPredicate[client.Object]

	// LabelChangedPredicate drops updates that left the labels as they were.
	LabelChangedPredicate = TypedLabelChangedPredicate[client.Object]
)

// TypedResourceVersionChangedPredicate drops updates that changed nothing, as those of a resync.
type TypedResourceVersionChangedPredicate[T metav1.Object] struct {
	TypedFuncs[T]
}

// Update says whether the resourceVersion changed.
func (TypedResourceVersionChangedPredicate[T]) Update(e event.TypedUpdateEvent[T]) bool {
	return changed(e, func(a, b T) bool { return a.GetResourceVersion() != b.GetResourceVersion() })
}

// TypedGenerationChangedPredicate drops updates that left metadata.generation as it was.
//
// The API server raises the generation of most objects when their spec changes, and not when their status
// does (of a custom resource without the status subresource: also when the status does). So a controller that
// writes status does not trigger itself. On the other hand it does not notice when somebody else changes the
// status. Some built-in kinds count differently, Deployments' annotations for one, and some have no
// generation at all: look before filtering a kind by it. Deletion by finalizer raises the generation, too.
//
// To react to annotations or labels as well: Or(GenerationChangedPredicate{}, AnnotationChangedPredicate{}).
type TypedGenerationChangedPredicate[object metav1.Object] struct {
	TypedFuncs[object]
}

// Update says whether the generation changed.
func (TypedGenerationChangedPredicate[object]) Update(e event.TypedUpdateEvent[object]) bool {
	return changed(e, func(a, b object) bool { return a.GetGeneration() != b.GetGeneration() })
}

// TypedAnnotationChangedPredicate drops updates that left the annotations as they were.
type TypedAnnotationChangedPredicate[object metav1.Object] struct {
	TypedFuncs[object]
}

// Update says whether an annotation was added, removed or changed.
func (TypedAnnotationChangedPredicate[object]) Update(e event.TypedUpdateEvent[object]) bool {
	return changed(e, func(a, b object) bool { return !maps.Equal(a.GetAnnotations(), b.GetAnnotations()) })
}

// TypedLabelChangedPredicate drops updates that left the labels as they were.
type TypedLabelChangedPredicate[object metav1.Object] struct {
	TypedFuncs[object]
}

// Update says whether a label was added, removed or changed.
func (TypedLabelChangedPredicate[object]) Update(e event.TypedUpdateEvent[object]) bool {
	return changed(e, func(a, b object) bool { return !maps.Equal(a.GetLabels(), b.GetLabels()) })
}
