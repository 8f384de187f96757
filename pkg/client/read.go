package client

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Get implements Reader.
func (c *client) Get(ctx context.Context, key ObjectKey, obj Object, opts ...GetOption) error {
	gvk, err := c.wire.kindOf(obj)
	if err != nil {
		return err
	}
	if c.readsCache(gvk, obj) {
		return c.cache.Get(ctx, key, obj, opts...)
	}
	options := (&GetOptions{}).ApplyOptions(opts)
	return about(gvk, key, c.wire.get(ctx, gvk, key, obj, options))
}

func (w *wire) get(ctx context.Context, gvk schema.GroupVersionKind, key ObjectKey, obj Object, options *GetOptions) error {
	r, err := w.resolve(ctx, w.codecFor(gvk, obj))
	if err != nil {
		return err
	}
	req, err := r.request(http.MethodGet, place{namespace: key.Namespace, name: key.Name}, options.AsGetOptions())
	if err != nil {
		return err
	}
	a, err := answerOf(req.SetHeader("Accept", r.accept(false)).Do(ctx))
	if err != nil {
		return err
	}
	_, err = r.decode(a, obj)
	return err
}

// List implements Reader.
func (c *client) List(ctx context.Context, list ObjectList, opts ...ListOption) error {
	gvk, err := c.wire.itemKindOf(list)
	if err != nil {
		return err
	}
	if c.readsCache(gvk, list) {
		return c.cache.List(ctx, list, opts...)
	}
	options := (&ListOptions{}).ApplyOptions(opts)
	return about(gvk, ObjectKey{}, c.wire.list(ctx, list, options))
}

func (w *wire) list(ctx context.Context, list ObjectList, options *ListOptions) error {
	r, err := w.resourceOfItems(ctx, list)
	if err != nil {
		return err
	}
	req, err := r.collectionRequest(http.MethodGet, options.Namespace, options.AsListOptions())
	if err != nil {
		return err
	}
	a, err := answerOf(req.SetHeader("Accept", r.accept(true)).Do(ctx))
	if err != nil {
		return err
	}
	_, err = r.decode(a, list)
	return err
}

// readsCache tells whether objects of that kind, in the form of obj, are read from the cache.
func (c *client) readsCache(gvk schema.GroupVersionKind, obj any) bool {
	if c.cache == nil || c.live[gvk] {
		return false
	}
	return !c.liveUnstructured || formOf(obj) != unstructuredForm
}
