package cache

import (
	"context"
	"fmt"
	"iter"
	"reflect"

	"github.com/operon-dev/operon/pkg/client"
)

// lender is a Cache that can lend what it holds.
type lender interface {
	lend(ctx context.Context, t reflect.Type, key client.ObjectKey) (client.Object, error)
	lendAll(ctx context.Context, t reflect.Type, opts []client.ListOption) ([]*entry, *resource, error)
}

var _ lender = &stores{}

// Lend returns the cached object itself: nothing is copied, nothing is allocated, unless the kind is held compact
// ([ByObject].Compact): then it is decoded for the caller. T is a pointer to a Go type that the
// scheme knows, such as *corev1.Pod.
//
// The object is shared with everybody who reads it. It must not be changed, nor anything it leads to; it stays as it is
// for as long as it is held, whatever happens to the object on the server. The errors are those of Get. From a Cache
// that is not this package's, Lend gets a copy.
func Lend[T client.Object](ctx context.Context, c Cache, key client.ObjectKey) (T, error) {
	var none T
	t := reflect.TypeFor[T]()
	l, ok := c.(lender)
	if !ok {
		if t.Kind() != reflect.Pointer {
			return none, fmt.Errorf("%s is not a pointer to a Go type", t)
		}
		obj := reflect.New(t.Elem()).Interface().(T)
		if err := c.Get(ctx, key, obj); err != nil {
			return none, err
		}
		return obj, nil
	}
	obj, err := l.lend(ctx, t, key)
	if err != nil {
		return none, err
	}
	return obj.(T), nil
}

// All returns the cached objects that match the options, as they are at the time of the call, in no particular order. T
// and what may be done with the objects is as with [Lend]; the options and errors are those of List. The sequence can
// be used again and gives the same objects.
func All[T client.Object](ctx context.Context, c Cache, opts ...client.ListOption) (iter.Seq[T], error) {
	t := reflect.TypeFor[T]()
	l, ok := c.(lender)
	if !ok {
		return nil, fmt.Errorf("%T does not lend objects", c)
	}
	entries, r, err := l.lendAll(ctx, t, opts)
	if err != nil {
		return nil, err
	}
	return func(yield func(T) bool) {
		for _, e := range entries {
			obj, err := e.view(r, formTyped)
			if err == nil && !yield(obj.(T)) {
				return
			}
		}
	}, nil
}

func (c *stores) lend(ctx context.Context, t reflect.Type, key client.ObjectKey) (client.Object, error) {
	p, err := c.placeOfType(t)
	if err != nil {
		return nil, err
	}
	obj, _, _, err := c.lookUp(ctx, p, formTyped, key)
	return obj, err
}

func (c *stores) lendAll(ctx context.Context, t reflect.Type, opts []client.ListOption) ([]*entry, *resource, error) {
	p, err := c.placeOfType(t)
	if err != nil {
		return nil, nil, err
	}
	var o client.ListOptions
	o.ApplyOptions(opts)
	entries, _, err := c.search(ctx, p, formTyped, &o)
	if err != nil {
		return nil, nil, err
	}
	for _, e := range entries {
		// An object that does not fit the Go type is an error here and not in the middle of the sequence. What is held in
		// the Go type does fit.
		if e.form == formTyped {
			continue
		}
		if _, err := e.view(p.resource, formTyped); err != nil {
			return nil, nil, err
		}
	}
	return entries, p.resource, nil
}

// placeOfType is the place of a Go type's resource.
func (c *stores) placeOfType(t reflect.Type) (*place, error) {
	if p, ok := c.types.Load(t); ok {
		return p.(*place), nil
	}
	if t.Kind() != reflect.Pointer {
		return nil, fmt.Errorf("%s is not a pointer to a Go type", t)
	}
	obj := reflect.New(t.Elem()).Interface().(client.Object)
	if f := formOf(obj); f != formTyped {
		return nil, fmt.Errorf("%s does not tell the resource: read %s objects with Get or List", t, f)
	}
	p, _, err := c.placeOf(obj)
	return p, err
}
