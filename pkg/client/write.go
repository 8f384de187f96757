package client

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// Create implements Writer.
func (c *client) Create(ctx context.Context, obj Object, opts ...CreateOption) error {
	r, err := c.wire.resourceOf(ctx, obj)
	if err != nil {
		return err
	}
	options := (&CreateOptions{}).ApplyOptions(opts)
	sent := options.AsCreateOptions()
	at := placeOf(obj)
	req, err := r.collectionRequest(http.MethodPost, at.namespace, sent)
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	seen := c.observation(r.gvk, obj, sent.DryRun, options.DisableReadYourWritesConsistency)
	if err := exchange(ctx, req, r.codec, obj, obj, seen); err != nil {
		return about(r.gvk, at.key(), err)
	}
	if r.form == typedForm {
		obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	}
	return nil
}

// Update implements Writer.
func (c *client) Update(ctx context.Context, obj Object, opts ...UpdateOption) error {
	r, err := c.wire.resourceOf(ctx, obj)
	if err != nil {
		return err
	}
	options := (&UpdateOptions{}).ApplyOptions(opts)
	sent := options.AsUpdateOptions()
	at := placeOf(obj)
	req, err := r.request(http.MethodPut, at, sent)
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	seen := c.observation(r.gvk, obj, sent.DryRun, options.DisableReadYourWritesConsistency)
	return about(r.gvk, at.key(), exchange(ctx, req, r.codec, obj, obj, seen))
}

// exchange sends one object, and puts the answer into another, or the same.
func exchange(ctx context.Context, req *rest.Request, c codec, sent, obj Object, seen observation) error {
	body, contentType, err := c.encode(sent)
	if err != nil {
		return err
	}
	return exchangeBody(ctx, req.SetHeader("Content-Type", contentType).Body(body), c, obj, seen)
}

// exchangeBody sends a request that has its body, and puts the answer into obj, which goes on saying which kind it is if it
// did so before.
func exchangeBody(ctx context.Context, req *rest.Request, c codec, obj Object, seen observation) error {
	a, err := answerOf(req.SetHeader("Accept", seen.accept(c)).Do(ctx))
	if err != nil {
		return err
	}
	kind := obj.GetObjectKind().GroupVersionKind()
	answered, err := c.decode(a, obj)
	if err != nil || !answered {
		return err
	}
	if c.form == typedForm {
		obj.GetObjectKind().SetGroupVersionKind(kind)
	}
	seen.wrote(c, obj, a)
	return nil
}

// Patch implements Writer.
func (c *client) Patch(ctx context.Context, obj Object, patch Patch, opts ...PatchOption) error {
	r, err := c.wire.resourceOf(ctx, obj)
	if err != nil {
		return err
	}
	options := (&PatchOptions{}).ApplyOptions(opts)
	sent := options.AsPatchOptions()
	at := placeOf(obj)
	req, err := r.request(http.MethodPatch, at, sent)
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	data, err := patch.Data(obj)
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	req.SetHeader("Content-Type", string(patch.Type())).Body(data)
	seen := c.observation(r.gvk, obj, sent.DryRun, options.DisableReadYourWritesConsistency)
	return about(r.gvk, at.key(), exchangeBody(ctx, req, r.codec, obj, seen))
}
