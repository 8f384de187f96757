package interceptor

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-dev/operon/pkg/client"
)

// interceptedSubResource is the client of one subresource.
type interceptedSubResource struct {
	client.SubResourceClient
	name   string
	client client.Client
	funcs  Funcs
}

func (s interceptedSubResource) Get(ctx context.Context, obj, subResource client.Object, opts ...client.SubResourceGetOption) error {
	if s.funcs.SubResourceGet != nil {
		return s.funcs.SubResourceGet(ctx, s.client, s.name, obj, subResource, opts...)
	}
	return s.SubResourceClient.Get(ctx, obj, subResource, opts...)
}

func (s interceptedSubResource) Create(ctx context.Context, obj, subResource client.Object, opts ...client.SubResourceCreateOption) error {
	if s.funcs.SubResourceCreate != nil {
		return s.funcs.SubResourceCreate(ctx, s.client, s.name, obj, subResource, opts...)
	}
	return s.SubResourceClient.Create(ctx, obj, subResource, opts...)
}

func (s interceptedSubResource) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	if s.funcs.SubResourceUpdate != nil {
		return s.funcs.SubResourceUpdate(ctx, s.client, s.name, obj, opts...)
	}
	return s.SubResourceClient.Update(ctx, obj, opts...)
}

func (s interceptedSubResource) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	if s.funcs.SubResourcePatch != nil {
		return s.funcs.SubResourcePatch(ctx, s.client, s.name, obj, patch, opts...)
	}
	return s.SubResourceClient.Patch(ctx, obj, patch, opts...)
}

func (s interceptedSubResource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	if s.funcs.SubResourceApply != nil {
		return s.funcs.SubResourceApply(ctx, s.client, s.name, obj, opts...)
	}
	return s.SubResourceClient.Apply(ctx, obj, opts...)
}
