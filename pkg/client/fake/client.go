package fake

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// fakeClient turns the calls of a client into requests to the server, and its answers into objects of the caller.
type fakeClient struct {
	server *server
}

var _ client.WithWatch = (*fakeClient)(nil)

func (c *fakeClient) Scheme() *runtime.Scheme     { return c.server.kinds.scheme }
func (c *fakeClient) RESTMapper() meta.RESTMapper { return c.server.kinds.mapper }

func (c *fakeClient) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(obj, c.server.kinds.scheme)
}

func (c *fakeClient) IsObjectNamespaced(obj runtime.Object) (bool, error) {
	return apiutil.IsObjectNamespaced(obj, c.server.kinds.scheme, c.server.kinds.mapper)
}

func (c *fakeClient) Get(ctx context.Context, key client.ObjectKey, obj client.Object, _ ...client.GetOption) error {
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	e, err := c.server.read(k, key)
	if err != nil {
		return err
	}
	return c.server.answer(k, e, obj)
}

// begin returns the kind of obj, if there is still somebody to answer to.
func (c *fakeClient) begin(ctx context.Context, obj runtime.Object) (*kind, error) {
	if err := alive(ctx); err != nil {
		return nil, err
	}
	return c.server.kinds.of(obj)
}

func (c *fakeClient) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	k, o, err := c.listing(ctx, list, opts)
	if err != nil {
		return err
	}
	p, err := c.server.list(k, o)
	if err != nil {
		return err
	}
	return c.server.answerList(k, p, list)
}

// listing returns the kind of list's items, and the options.
func (c *fakeClient) listing(ctx context.Context, list client.ObjectList, opts []client.ListOption) (*kind, *client.ListOptions, error) {
	if err := alive(ctx); err != nil {
		return nil, nil, err
	}
	k, err := c.server.kinds.ofItems(list)
	if err != nil {
		return nil, nil, err
	}
	return k, (&client.ListOptions{}).ApplyOptions(opts), nil
}

func (c *fakeClient) Watch(ctx context.Context, list client.ObjectList, opts ...client.ListOption) (watch.Interface, error) {
	k, o, err := c.listing(ctx, list, opts)
	if err != nil {
		return nil, err
	}
	like, err := newItem(list)
	if err != nil {
		return nil, err
	}
	return c.server.watch(ctx, k, like, o)
}

func (c *fakeClient) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	if err := k.whollyThere(obj); err != nil {
		return err
	}
	sent := (&client.CreateOptions{}).ApplyOptions(opts).AsCreateOptions()
	if err := checkOptions("CreateOptions", checkWrite(sent.FieldManager, sent.DryRun)); err != nil {
		return err
	}
	stored, err := k.admit(obj)
	if err != nil {
		return err
	}
	e, err := c.server.create(k, stored, writeOptions{dryRun: dry(sent.DryRun), manager: sent.FieldManager})
	if err != nil {
		return err
	}
	return c.server.answer(k, e, obj)
}

// whollyThere refuses the metadata of an object where a whole object is needed. Of a kind that nothing is known about, metadata
// is as whole as can be told.
func (k *kind) whollyThere(obj client.Object) error {
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok && (k.goType != nil || k.definition != nil) {
		return fmt.Errorf("metadata is not the whole object, and only whole objects can be created and updated: patch it instead")
	}
	return nil
}

func (c *fakeClient) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	if err := k.whollyThere(obj); err != nil {
		return err
	}
	sent := (&client.UpdateOptions{}).ApplyOptions(opts).AsUpdateOptions()
	if err := checkOptions("UpdateOptions", checkWrite(sent.FieldManager, sent.DryRun)); err != nil {
		return err
	}
	return c.server.replace(k, client.ObjectKeyFromObject(obj), obj, obj, writeOptions{dryRun: dry(sent.DryRun), manager: sent.FieldManager})
}

func (c *fakeClient) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	if patch == nil {
		return errNoPatch
	}
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	sent := (&client.PatchOptions{}).ApplyOptions(opts).AsPatchOptions()
	return c.server.patch(k, client.ObjectKeyFromObject(obj), obj, patch, sent, "")
}

func (c *fakeClient) Apply(ctx context.Context, config runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	if err := alive(ctx); err != nil {
		return err
	}
	sent := (&client.ApplyOptions{}).ApplyOptions(opts).AsPatchOptions()
	return c.server.applyTo(config, config, sent, "")
}

func (c *fakeClient) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	sent := (&client.DeleteOptions{}).ApplyOptions(opts).AsDeleteOptions()
	if err := checkOptions("DeleteOptions", metav1validation.ValidateDeleteOptions(sent)); err != nil {
		return err
	}
	return c.server.delete(k, client.ObjectKeyFromObject(obj), sent)
}

func (c *fakeClient) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	k, err := c.begin(ctx, obj)
	if err != nil {
		return err
	}
	o := (&client.DeleteAllOfOptions{}).ApplyOptions(opts)
	how := o.AsDeleteOptions()
	if err := checkOptions("DeleteOptions", metav1validation.ValidateDeleteOptions(how)); err != nil {
		return err
	}
	return c.server.deleteAll(k, &o.ListOptions, how)
}

func (c *fakeClient) Status() client.SubResourceWriter { return c.SubResource("status") }

func (c *fakeClient) SubResource(subResource string) client.SubResourceClient {
	return &subResourceClient{server: c.server, name: subResource}
}

// replace puts obj in the place of the object at key. The answer goes to out, which may be obj.
func (s *server) replace(k *kind, key types.NamespacedName, obj, out client.Object, o writeOptions) error {
	stored, err := k.admit(obj)
	if err != nil {
		return err
	}
	if given := obj.GetManagedFields(); given != nil && len(given) == 0 {
		// Somebody wants nobody to own anything. On its way to a server an empty list would be lost; this is how they are told.
		stored.SetManagedFields([]metav1.ManagedFieldsEntry{{}})
	}
	if k.has(clusterScoped) {
		stored.SetNamespace("")
	}
	if key.Name == "" {
		return k.nameless()
	}
	e, err := s.put(k, key, stored, o)
	if err != nil {
		return err
	}
	return s.answer(k, e, out)
}

// put updates the object at key, or creates it where servers do so.
func (s *server) put(k *kind, key types.NamespacedName, stored client.Object, o writeOptions) (*entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.store.get(k, k.place(key))
	if err != nil {
		return nil, err
	}
	if old == nil {
		if !k.has(createdByUpdate) || o.subresource != "" {
			return nil, notFound(k, key)
		}
		version := stored.GetResourceVersion()
		stored.SetResourceVersion("")
		e, err := s.createLocked(k, stored, o)
		if err == nil && o.dryRun {
			stored.SetResourceVersion(version)
		}
		return e, err
	}
	return s.updateLocked(k, old, func(*entry) (client.Object, error) { return stored, nil }, o)
}

var errNoPatch = errors.New("the patch is nil: client.MergeFrom and client.RawPatch make one")

// patch changes the object at key as a patch says, which is made of obj. The answer goes to obj.
func (s *server) patch(k *kind, key types.NamespacedName, obj client.Object, patch client.Patch, sent *metav1.PatchOptions, subresource string) error {
	if err := checkPatchOptions(patch.Type() == types.ApplyPatchType, sent.Force, sent.FieldManager, sent.DryRun); err != nil {
		return err
	}
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	if err := k.takes(patch.Type(), data); err != nil {
		return err
	}
	o := writeOptions{dryRun: dry(sent.DryRun), manager: sent.FieldManager, subresource: subresource, anyVersion: true}
	if patch.Type() == types.ApplyPatchType {
		a, err := s.kinds.appliedTo(k, key, data)
		if err != nil {
			return err
		}
		e, err := s.apply(a, o, forced(sent.Force))
		if err != nil {
			return err
		}
		return s.answer(k, e, obj)
	}
	e, err := s.update(k, key, k.patchWith(patch.Type(), data), o)
	if err != nil {
		return err
	}
	return s.answer(k, e, obj)
}

// applyTo applies what fields holds, to the object itself or a subresource. The answer goes to out.
func (s *server) applyTo(fields, out runtime.ApplyConfiguration, sent *metav1.PatchOptions, subresource string) error {
	a, err := s.kinds.applied(fields)
	if err != nil {
		return err
	}
	if err := checkPatchOptions(true, sent.Force, sent.FieldManager, sent.DryRun); err != nil {
		return err
	}
	o := writeOptions{dryRun: dry(sent.DryRun), manager: sent.FieldManager, subresource: subresource}
	e, err := s.apply(a, o, forced(sent.Force))
	if err != nil {
		return err
	}
	return s.answerApplied(a.kind, e, out)
}

// deleteAll deletes the objects that the options ask for.
func (s *server) deleteAll(k *kind, which *client.ListOptions, how *metav1.DeleteOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	sel, err := s.selectorFor(k, which)
	if err != nil {
		return err
	}
	entries, err := s.store.list(k, sel.namespace)
	if err != nil {
		return err
	}
	for _, e := range entries {
		ok, err := sel.matches(e)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := s.deleteLocked(k, e, how); err != nil {
			return err
		}
	}
	return nil
}
