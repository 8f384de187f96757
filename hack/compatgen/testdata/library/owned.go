// Package library is what an operator imports that knows nothing of Operon.
package library

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// Counting is a client that counts its Gets.
type Counting struct {
	client.Client
	Gets int
}

// Get counts, and gets.
func (c *Counting) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	c.Gets++
	return c.Client.Get(ctx, key, obj, opts...)
}

// Labelled lets objects with a label through.
func Labelled[T client.Object](label string) predicate.TypedPredicate[T] {
	return predicate.NewTypedPredicateFuncs(func(obj T) bool { return obj.GetLabels()[label] != "" })
}
