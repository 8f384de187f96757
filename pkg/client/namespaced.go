package client

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// NewNamespacedClient returns a client that works in the namespace ns only. Objects and keys without a namespace get it;
// those with another one are an error; lists and DeleteAllOf are restricted to it, whatever their options say. Cluster-scoped
// kinds are reached as through c.
func NewNamespacedClient(c Client, ns string) Client {
	return &namespacedClient{Client: c, namespace: ns}
}

type namespacedClient struct {
	Client
	namespace string
}

// place makes obj be in the namespace, if its kind has any.
func (c *namespacedClient) place(obj Object) error {
	namespaced, err := c.IsObjectNamespaced(obj)
	if err != nil {
		return err
	}
	namespace, err := c.within(obj.GetNamespace(), obj.GetName())
	if err == nil && namespaced {
		obj.SetNamespace(namespace)
	}
	return err
}

func (c *namespacedClient) within(namespace, name string) (string, error) {
	if namespace != "" && namespace != c.namespace {
		return "", fmt.Errorf("%q: namespace %q does not match the namespace %q, which is the only one that this client works in", name, namespace, c.namespace)
	}
	return c.namespace, nil
}

// placeConfig makes config name an object in the namespace, if its kind has any.
func (c *namespacedClient) placeConfig(config runtime.ApplyConfiguration) error {
	a, err := encodeApply(config)
	if err != nil {
		return err
	}
	if namespaced, err := apiutil.IsGVKNamespaced(a.gvk, c.RESTMapper()); err != nil || !namespaced {
		return err
	}
	namespace, err := c.within(a.at.namespace, a.at.name)
	if err != nil || a.at.namespace == namespace {
		return err
	}
	if u, ok := config.(*unstructuredApplyConfiguration); ok {
		u.SetNamespace(namespace)
		return nil
	}
	if !callSetter(config, "WithNamespace", namespace) {
		return fmt.Errorf("%T has no namespace, and no way to set one", config)
	}
	return nil
}

func (c *namespacedClient) Get(ctx context.Context, key ObjectKey, obj Object, opts ...GetOption) error {
	namespaced, err := c.IsObjectNamespaced(obj)
	if err != nil {
		return err
	}
	if namespaced {
		if key.Namespace, err = c.within(key.Namespace, key.Name); err != nil {
			return err
		}
	}
	return c.Client.Get(ctx, key, obj, opts...)
}

func (c *namespacedClient) List(ctx context.Context, list ObjectList, opts ...ListOption) error {
	gvk, err := c.GroupVersionKindFor(list)
	if err != nil {
		return err
	}
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	namespaced, err := apiutil.IsGVKNamespaced(gvk, c.RESTMapper())
	if err != nil {
		return err
	}
	if namespaced && c.namespace != "" {
		opts = around[ListOption](nil, InNamespace(c.namespace), opts)
	}
	return c.Client.List(ctx, list, opts...)
}

func (c *namespacedClient) Create(ctx context.Context, obj Object, opts ...CreateOption) error {
	if err := c.place(obj); err != nil {
		return err
	}
	return c.Client.Create(ctx, obj, opts...)
}

func (c *namespacedClient) Update(ctx context.Context, obj Object, opts ...UpdateOption) error {
	if err := c.place(obj); err != nil {
		return err
	}
	return c.Client.Update(ctx, obj, opts...)
}

func (c *namespacedClient) Patch(ctx context.Context, obj Object, patch Patch, opts ...PatchOption) error {
	if err := c.place(obj); err != nil {
		return err
	}
	return c.Client.Patch(ctx, obj, patch, opts...)
}

func (c *namespacedClient) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...ApplyOption) error {
	if err := c.placeConfig(obj); err != nil {
		return err
	}
	return c.Client.Apply(ctx, obj, opts...)
}

func (c *namespacedClient) Delete(ctx context.Context, obj Object, opts ...DeleteOption) error {
	if err := c.place(obj); err != nil {
		return err
	}
	return c.Client.Delete(ctx, obj, opts...)
}

func (c *namespacedClient) DeleteAllOf(ctx context.Context, obj Object, opts ...DeleteAllOfOption) error {
	namespaced, err := c.IsObjectNamespaced(obj)
	if err != nil {
		return err
	}
	if namespaced {
		opts = around[DeleteAllOfOption](nil, InNamespace(c.namespace), opts)
	}
	return c.Client.DeleteAllOf(ctx, obj, opts...)
}

func (c *namespacedClient) Status() SubResourceWriter { return c.SubResource("status") }

func (c *namespacedClient) SubResource(subResource string) SubResourceClient {
	return &namespacedSubResource{SubResourceClient: c.Client.SubResource(subResource), client: c}
}

type namespacedSubResource struct {
	SubResourceClient
	client *namespacedClient
}

func (s *namespacedSubResource) Get(ctx context.Context, obj Object, subResource Object, opts ...SubResourceGetOption) error {
	if err := s.client.place(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Get(ctx, obj, subResource, opts...)
}

func (s *namespacedSubResource) Create(ctx context.Context, obj Object, subResource Object, opts ...SubResourceCreateOption) error {
	if err := s.client.place(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Create(ctx, obj, subResource, opts...)
}

func (s *namespacedSubResource) Update(ctx context.Context, obj Object, opts ...SubResourceUpdateOption) error {
	if err := s.client.place(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Update(ctx, obj, opts...)
}

func (s *namespacedSubResource) Patch(ctx context.Context, obj Object, patch Patch, opts ...SubResourcePatchOption) error {
	if err := s.client.place(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Patch(ctx, obj, patch, opts...)
}

func (s *namespacedSubResource) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...SubResourceApplyOption) error {
	if err := s.client.placeConfig(obj); err != nil {
		return err
	}
	return s.SubResourceClient.Apply(ctx, obj, opts...)
}
