package interceptor

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operon-dev/operon/pkg/client"
)

// Funcs are called instead of the methods of a client that have their names. A nil function leaves the method as it is.
type Funcs struct {
	Get               func(ctx context.Context, client client.WithWatch, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error
	List              func(ctx context.Context, client client.WithWatch, list client.ObjectList, opts ...client.ListOption) error
	Create            func(ctx context.Context, client client.WithWatch, obj client.Object, opts ...client.CreateOption) error
	Delete            func(ctx context.Context, client client.WithWatch, obj client.Object, opts ...client.DeleteOption) error
	DeleteAllOf       func(ctx context.Context, client client.WithWatch, obj client.Object, opts ...client.DeleteAllOfOption) error
	Update            func(ctx context.Context, client client.WithWatch, obj client.Object, opts ...client.UpdateOption) error
	Patch             func(ctx context.Context, client client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
	Apply             func(ctx context.Context, client client.WithWatch, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error
	Watch             func(ctx context.Context, client client.WithWatch, obj client.ObjectList, opts ...client.ListOption) (watch.Interface, error)
	SubResource       func(client client.WithWatch, subResource string) client.SubResourceClient
	SubResourceGet    func(ctx context.Context, client client.Client, subResourceName string, obj client.Object, subResource client.Object, opts ...client.SubResourceGetOption) error
	SubResourceCreate func(ctx context.Context, client client.Client, subResourceName string, obj client.Object, subResource client.Object, opts ...client.SubResourceCreateOption) error
	SubResourceUpdate func(ctx context.Context, client client.Client, subResourceName string, obj client.Object, opts ...client.SubResourceUpdateOption) error
	SubResourcePatch  func(ctx context.Context, client client.Client, subResourceName string, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error
	SubResourceApply  func(ctx context.Context, client client.Client, subResourceName string, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error
}

// NewClient returns a client that calls funcs where they are set, and interceptedClient otherwise.
func NewClient(interceptedClient client.WithWatch, funcs Funcs) client.WithWatch {
	return intercepted{WithWatch: interceptedClient, funcs: funcs}
}

// intercepted is the wrapping client. What is not intercepted comes from the embedded one.
type intercepted struct {
	client.WithWatch
	funcs Funcs
}

// Unwrap returns the client that is wrapped.
func (c intercepted) Unwrap() client.WithWatch { return c.WithWatch }

func (c intercepted) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if c.funcs.Get != nil {
		return c.funcs.Get(ctx, c.WithWatch, key, obj, opts...)
	}
	return c.WithWatch.Get(ctx, key, obj, opts...)
}

func (c intercepted) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if c.funcs.List != nil {
		return c.funcs.List(ctx, c.WithWatch, list, opts...)
	}
	return c.WithWatch.List(ctx, list, opts...)
}

func (c intercepted) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	if c.funcs.Create != nil {
		return c.funcs.Create(ctx, c.WithWatch, obj, opts...)
	}
	return c.WithWatch.Create(ctx, obj, opts...)
}

func (c intercepted) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	if c.funcs.Delete != nil {
		return c.funcs.Delete(ctx, c.WithWatch, obj, opts...)
	}
	return c.WithWatch.Delete(ctx, obj, opts...)
}

func (c intercepted) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	if c.funcs.DeleteAllOf != nil {
		return c.funcs.DeleteAllOf(ctx, c.WithWatch, obj, opts...)
	}
	return c.WithWatch.DeleteAllOf(ctx, obj, opts...)
}

func (c intercepted) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	if c.funcs.Update != nil {
		return c.funcs.Update(ctx, c.WithWatch, obj, opts...)
	}
	return c.WithWatch.Update(ctx, obj, opts...)
}

func (c intercepted) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if c.funcs.Patch != nil {
		return c.funcs.Patch(ctx, c.WithWatch, obj, patch, opts...)
	}
	return c.WithWatch.Patch(ctx, obj, patch, opts...)
}

func (c intercepted) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if c.funcs.Apply != nil {
		return c.funcs.Apply(ctx, c.WithWatch, obj, opts...)
	}
	return c.WithWatch.Apply(ctx, obj, opts...)
}

func (c intercepted) Watch(ctx context.Context, obj client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
	if c.funcs.Watch != nil {
		return c.funcs.Watch(ctx, c.WithWatch, obj, opts...)
	}
	return c.WithWatch.Watch(ctx, obj, opts...)
}

func (c intercepted) Status() client.SubResourceWriter { return c.SubResource("status") }

func (c intercepted) SubResource(subResource string) client.SubResourceClient {
	if c.funcs.SubResource != nil {
		return c.funcs.SubResource(c.WithWatch, subResource)
	}
	return interceptedSubResource{
		SubResourceClient: c.WithWatch.SubResource(subResource),
		name:              subResource,
		client:            c.WithWatch,
		funcs:             c.funcs,
	}
}
