package fake

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/testing"

	"github.com/operon-dev/operon/pkg/client"
)

// tracked is a store in an ObjectTracker that the builder was given, and that others may use too.
type tracked struct {
	tracker testing.ObjectTracker
}

func entryOf(k *kind, obj runtime.Object) (*entry, error) {
	stored, err := k.admit(obj)
	if err != nil {
		return nil, err
	}
	e := &entry{obj: stored, owners: owned(stored.GetManagedFields())}
	stored.SetManagedFields(nil)
	return e, nil
}

func (t *tracked) get(k *kind, key types.NamespacedName) (*entry, error) {
	obj, err := t.tracker.Get(k.tracked, key.Namespace, key.Name)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return entryOf(k, obj)
}

func (t *tracked) list(k *kind, namespace string) ([]*entry, error) {
	list, err := t.tracker.List(k.tracked, k.stored, namespace)
	if err != nil {
		return nil, err
	}
	items, err := meta.ExtractList(list)
	if err != nil {
		return nil, err
	}
	entries := make([]*entry, len(items))
	for i, item := range items {
		if entries[i], err = entryOf(k, item); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (t *tracked) put(k *kind, old, e *entry, o writeOptions) error {
	obj := e.obj.DeepCopyObject().(client.Object)
	obj.SetManagedFields(e.owners.asked())
	if old == nil {
		return t.tracker.Create(k.tracked, obj, obj.GetNamespace(), metav1.CreateOptions{FieldManager: o.manager})
	}
	return t.tracker.Update(k.tracked, obj, obj.GetNamespace(), metav1.UpdateOptions{FieldManager: o.manager})
}

// asked returns the managedFields that a tracker is to go by: those that the caller has set, or those that there were.
func (o *ownership) asked() []metav1.ManagedFieldsEntry {
	switch {
	case o.given != nil:
		return o.given
	case o.before != nil:
		return o.before.managed
	}
	return o.managed
}

func (t *tracked) remove(k *kind, old *entry) error {
	return t.tracker.Delete(k.tracked, old.obj.GetNamespace(), old.obj.GetName())
}

// apply leaves it to the tracker what an apply is. The server's lock is held.
func (t *tracked) apply(s *server, a applied, o writeOptions, force bool) (*entry, error) {
	k := a.kind
	if o.dryRun {
		return nil, apierrors.NewBadRequest("an object tracker cannot apply as a dry run")
	}
	old, err := t.get(k, client.ObjectKeyFromObject(a.Unstructured))
	if err != nil {
		return nil, err
	}
	options := metav1.PatchOptions{FieldManager: o.manager, Force: &force}
	if err := t.tracker.Apply(k.tracked, a.Unstructured, a.GetNamespace(), options); err != nil {
		return nil, err
	}
	e, err := s.find(k, client.ObjectKeyFromObject(a.Unstructured))
	if err != nil {
		return nil, err
	}
	version := s.versions.created()
	if old != nil {
		if version, err = s.versions.next(old.obj); err != nil {
			return nil, err
		}
	}
	e.obj.SetResourceVersion(version)
	return e, t.put(k, e, e, o)
}

// watch passes on what the tracker tells, which is what happens from now on.
func (t *tracked) watch(ctx context.Context, s *server, k *kind, like runtime.Object, o *client.ListOptions) (watch.Interface, error) {
	s.mu.RLock()
	sel, err := s.selectorFor(k, o)
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	events, err := t.tracker.Watch(k.tracked, sel.namespace)
	if err != nil {
		return nil, err
	}
	filtered := watch.Filter(events, func(event watch.Event) (watch.Event, bool) {
		e, err := entryOf(k, event.Object)
		if err != nil {
			return event, true
		}
		matches, err := sel.matches(e)
		if err != nil || !matches {
			return event, false
		}
		if event.Object, err = s.view(k, e, like); err != nil {
			return event, false
		}
		return event, true
	})
	if ctx != nil {
		context.AfterFunc(ctx, filtered.Stop)
	}
	return filtered, nil
}
