package client

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// Status implements StatusClient.
func (c *client) Status() SubResourceWriter { return c.SubResource("status") }

// SubResource implements SubResourceClientConstructor.
func (c *client) SubResource(subResource string) SubResourceClient {
	return &subResourceClient{client: c, name: subResource}
}

type subResourceClient struct {
	client *client
	name   string
}

// codecOf returns the codec of a body that is sent to, or received from, a subresource of r. An unstructured one need not
// say which kind it is: the answer does.
func (s *subResourceClient) codecOf(r *resource, body Object) (codec, error) {
	gvk, err := s.client.wire.kindOf(body)
	if err != nil && formOf(body) != unstructuredForm {
		return codec{}, err
	}
	c := s.client.wire.codecFor(gvk, body)
	// A custom resource's server knows no protobuf, whatever the body is a kind of.
	c.protobuf = c.protobuf && apiutil.HasProtobuf(r.gvk)
	return c, nil
}

// bodyOf returns the resource of obj, and what is exchanged with its subresource: given or, without that, obj itself.
func (s *subResourceClient) bodyOf(ctx context.Context, obj, given Object) (*resource, Object, codec, error) {
	r, err := s.client.wire.resourceOf(ctx, obj)
	switch {
	case err != nil:
		return nil, nil, codec{}, err
	case given == nil:
		return r, obj, r.codec, nil
	}
	c, err := s.codecOf(r, given)
	return r, given, c, err
}

// named returns body with the name of the object whose subresource it is, which servers demand of what is put or posted.
func named(body, obj Object) Object {
	if body.GetName() != "" && body.GetNamespace() != "" {
		return body
	}
	body = body.DeepCopyObject().(Object)
	if body.GetName() == "" {
		body.SetName(obj.GetName())
	}
	if body.GetNamespace() == "" {
		body.SetNamespace(obj.GetNamespace())
	}
	return body
}

// Get implements SubResourceReader.
func (s *subResourceClient) Get(ctx context.Context, obj Object, subResource Object, opts ...SubResourceGetOption) error {
	r, _, c, err := s.bodyOf(ctx, obj, subResource)
	if err != nil {
		return err
	}
	options := (&SubResourceGetOptions{}).ApplyOptions(opts)
	at := placeOf(obj).sub(s.name)
	req, err := r.request(http.MethodGet, at, options.AsGetOptions())
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	a, err := answerOf(req.SetHeader("Accept", c.accept(false)).Do(ctx))
	if err == nil {
		_, err = c.decode(a, subResource)
	}
	return about(r.gvk, at.key(), err)
}

// Create implements SubResourceWriter.
func (s *subResourceClient) Create(ctx context.Context, obj Object, subResource Object, opts ...SubResourceCreateOption) error {
	r, _, c, err := s.bodyOf(ctx, obj, subResource)
	if err != nil {
		return err
	}
	options := (&SubResourceCreateOptions{}).ApplyOptions(opts)
	sent := options.AsCreateOptions()
	at := placeOf(obj).sub(s.name)
	req, err := r.request(http.MethodPost, at, sent)
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	seen := s.observation(r, c, subResource, sent.DryRun, options.DisableReadYourWritesConsistency)
	err = exchange(ctx, req, c, named(subResource, obj), subResource, seen)
	s.lookBehind(ctx, r.gvk, c.gvk, at.key(), err, sent.DryRun, options.DisableReadYourWritesConsistency)
	return about(r.gvk, at.key(), err)
}

// Update implements SubResourceWriter.
func (s *subResourceClient) Update(ctx context.Context, obj Object, opts ...SubResourceUpdateOption) error {
	options := (&SubResourceUpdateOptions{}).ApplyOptions(opts)
	r, body, c, err := s.bodyOf(ctx, obj, options.SubResourceBody)
	if err != nil {
		return err
	}
	sent := options.AsUpdateOptions()
	at := placeOf(obj).sub(s.name)
	req, err := r.request(http.MethodPut, at, sent)
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	seen := s.observation(r, c, body, sent.DryRun, options.DisableReadYourWritesConsistency)
	err = exchange(ctx, req, c, named(body, obj), body, seen)
	s.lookBehind(ctx, r.gvk, c.gvk, at.key(), err, sent.DryRun, options.DisableReadYourWritesConsistency)
	return about(r.gvk, at.key(), err)
}

// Patch implements SubResourceWriter. Without a body, an answer that is of another type than obj, as a scale is, is left out.
func (s *subResourceClient) Patch(ctx context.Context, obj Object, patch Patch, opts ...SubResourcePatchOption) error {
	options := (&SubResourcePatchOptions{}).ApplyOptions(opts)
	r, body, c, err := s.bodyOf(ctx, obj, options.SubResourceBody)
	if err != nil {
		return err
	}
	sent := options.AsPatchOptions()
	at := placeOf(obj).sub(s.name)
	req, err := r.request(http.MethodPatch, at, sent)
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	data, err := patch.Data(body)
	if err != nil {
		return about(r.gvk, at.key(), err)
	}
	req.SetHeader("Content-Type", string(patch.Type())).Body(data)
	seen := s.observation(r, c, body, sent.DryRun, options.DisableReadYourWritesConsistency)
	err = exchangeBody(ctx, req, c, body, seen)
	if other := (*otherTypeError)(nil); options.SubResourceBody == nil && errors.As(err, &other) {
		err = nil
	}
	s.lookBehind(ctx, r.gvk, c.gvk, at.key(), err, sent.DryRun, options.DisableReadYourWritesConsistency)
	return about(r.gvk, at.key(), err)
}

// Apply implements SubResourceWriter. With a body, the answer goes there; obj gets the resourceVersion of the answer, which is
// that of the object.
func (s *subResourceClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...SubResourceApplyOption) error {
	a, err := encodeApply(obj)
	if err != nil {
		return err
	}
	options := (&SubResourceApplyOptions{}).ApplyOpts(opts)
	config := obj
	if options.SubResourceBody != nil {
		body, err := encodeApply(options.SubResourceBody)
		if err != nil {
			return err
		}
		config, a.body = options.SubResourceBody, body.body
	}
	a.at = a.at.sub(s.name)
	if err := s.client.apply(ctx, a, config, &options.ApplyOptions); err != nil || options.SubResourceBody == nil {
		return about(a.gvk, a.at.key(), err)
	}
	answered, err := encodeApply(config)
	if err == nil && answered.version != "" {
		setResourceVersion(obj, answered.version)
	}
	return about(a.gvk, a.at.key(), err)
}
