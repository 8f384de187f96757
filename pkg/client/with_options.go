package client

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
)

// optionsClient hands options of its own to every write: first, which the caller's override, and last, which override
// the caller's. Each is given to those calls whose option interface it implements.
type optionsClient struct {
	Client
	first, last any
}

func around[Option any](first, last any, opts []Option) []Option {
	all := slices.Clone(opts)
	if o, ok := first.(Option); ok {
		all = slices.Insert(all, 0, o)
	}
	if o, ok := last.(Option); ok {
		all = append(all, o)
	}
	return all
}

func (c *optionsClient) Create(ctx context.Context, obj Object, opts ...CreateOption) error {
	return c.Client.Create(ctx, obj, around(c.first, c.last, opts)...)
}

func (c *optionsClient) Update(ctx context.Context, obj Object, opts ...UpdateOption) error {
	return c.Client.Update(ctx, obj, around(c.first, c.last, opts)...)
}

func (c *optionsClient) Patch(ctx context.Context, obj Object, patch Patch, opts ...PatchOption) error {
	return c.Client.Patch(ctx, obj, patch, around(c.first, c.last, opts)...)
}

func (c *optionsClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...ApplyOption) error {
	return c.Client.Apply(ctx, obj, around(c.first, c.last, opts)...)
}

func (c *optionsClient) Delete(ctx context.Context, obj Object, opts ...DeleteOption) error {
	return c.Client.Delete(ctx, obj, around(c.first, c.last, opts)...)
}

func (c *optionsClient) DeleteAllOf(ctx context.Context, obj Object, opts ...DeleteAllOfOption) error {
	return c.Client.DeleteAllOf(ctx, obj, around(c.first, c.last, opts)...)
}

func (c *optionsClient) Status() SubResourceWriter { return c.SubResource("status") }

func (c *optionsClient) SubResource(subResource string) SubResourceClient {
	return &optionsSubResource{SubResourceClient: c.Client.SubResource(subResource), first: c.first, last: c.last}
}

type optionsSubResource struct {
	SubResourceClient
	first, last any
}

func (s *optionsSubResource) Create(ctx context.Context, obj Object, subResource Object, opts ...SubResourceCreateOption) error {
	return s.SubResourceClient.Create(ctx, obj, subResource, around(s.first, s.last, opts)...)
}

func (s *optionsSubResource) Update(ctx context.Context, obj Object, opts ...SubResourceUpdateOption) error {
	return s.SubResourceClient.Update(ctx, obj, around(s.first, s.last, opts)...)
}

func (s *optionsSubResource) Patch(ctx context.Context, obj Object, patch Patch, opts ...SubResourcePatchOption) error {
	return s.SubResourceClient.Patch(ctx, obj, patch, around(s.first, s.last, opts)...)
}

func (s *optionsSubResource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...SubResourceApplyOption) error {
	return s.SubResourceClient.Apply(ctx, obj, around(s.first, s.last, opts)...)
}
