package cache

import (
	"fmt"
	"math"
	"reflect"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// opaqueVersion stands for a resourceVersion that is not an integer.
const opaqueVersion = math.MaxUint64

// parseVersion reads a resourceVersion. Kubernetes promises decimal integers that can be compared for everything its own
// API machinery serves; an aggregated API server may do otherwise.
func parseVersion(rv string) uint64 {
	n, err := strconv.ParseUint(rv, 10, 64)
	if err != nil {
		return opaqueVersion
	}
	return n
}

// admission turns objects into entries: what every object goes through before it enters a store,
// whether a watch or a write of our own brought it.
type admission struct {
	*resource
	base        form    // form the entries are held in
	provides    formSet // forms they can be viewed in
	keepManaged bool
}

// entry makes an entry of obj, which it owns. Where the namespace has a transform, every view is made before the
// transform runs on each of them, so that each reader gets what it would get from an informer of its own.
func (a admission) entry(obj client.Object, transform func(any) (any, error)) (*entry, error) {
	obj, partial, err := a.inBase(obj)
	if err != nil {
		return nil, err
	}
	obj.GetObjectKind().SetGroupVersionKind(a.gvk)
	if !a.keepManaged {
		dropManagedFields(obj)
	}
	meta, err := metaOf(obj)
	if err != nil {
		return nil, err
	}
	e := newEntry(obj, meta, a.base)
	e.partial = partial
	if transform == nil {
		return e, nil
	}
	return a.transformed(e, transform)
}

func (a admission) transformed(e *entry, transform func(any) (any, error)) (*entry, error) {
	views := &derived{}
	for f := range numForms {
		if !a.provides.has(f) {
			continue
		}
		view, err := e.view(a.resource, f)
		if err != nil {
			return nil, err
		}
		if f != e.form {
			view = view.DeepCopyObject().(client.Object)
		}
		views.views[f] = view
	}
	for f, view := range views.views {
		if view == nil {
			continue
		}
		out, err := transform(view)
		if err != nil {
			return nil, fmt.Errorf("%s: transform: %w", a.name(client.ObjectKeyFromObject(view)), err)
		}
		obj, ok := out.(client.Object)
		if !ok || formOf(obj) != form(f) {
			return nil, fmt.Errorf("%s: transform made a %T of a %T", a.name(client.ObjectKeyFromObject(view)), out, view)
		}
		views.views[f] = obj
	}
	meta, err := metaOf(views.views[e.form])
	if err != nil {
		return nil, err
	}
	// A transform may drop what identifies the version; the store's order of events hangs on it.
	next := newEntry(views.views[e.form], meta, e.form)
	next.rv, next.partial = e.rv, e.partial
	views.views[e.form] = nil
	next.derived.Store(views)
	return next, nil
}

// inBase brings obj into the form of the store. partial says that fields may be missing which the form could hold.
func (a admission) inBase(obj client.Object) (_ client.Object, partial bool, _ error) {
	have := formOf(obj)
	if have == formTyped && a.goType != nil && reflect.TypeOf(obj) != a.goType {
		full, err := toFull(a.resource, obj)
		if err != nil {
			return nil, false, err
		}
		obj, have, partial = full, formFull, true
	}
	switch {
	case have == a.base:
		return obj, partial, nil
	case a.base == formFull && have == formTyped:
		full, err := toFull(a.resource, obj)
		return full, true, err
	case have > a.base:
		meta, err := metaOf(obj)
		if err != nil {
			return nil, false, err
		}
		view, err := newEntry(obj, meta, have).view(a.resource, a.base)
		return view, partial, err
	}
	return nil, false, fmt.Errorf("%s: a %s is not the whole object", a.name(client.ObjectKeyFromObject(obj)), have)
}

// dropManagedFields spares the allocations of the accessors.
func dropManagedFields(obj client.Object) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
		return
	}
	obj.SetManagedFields(nil)
}

// goneByNow says whether the state a write's answer shows is the object's last: the API server deletes an object that is
// being deleted as soon as nothing holds it.
func (r *resource) goneByNow(m *metav1.ObjectMeta) bool {
	return m.DeletionTimestamp != nil && len(m.Finalizers) == 0 && !r.heldBySpec() &&
		(m.DeletionGracePeriodSeconds == nil || *m.DeletionGracePeriodSeconds == 0)
}

// heldBySpec says whether objects have finalizers in their spec besides, which not every answer shows: those of namespaces stand
// for what is in them. Their end is what the watch says it is.
func (r *resource) heldBySpec() bool {
	switch r.gvk.GroupKind() {
	case schema.GroupKind{Kind: "Namespace"}, schema.GroupKind{Group: "project.openshift.io", Kind: "Project"}:
		return true
	}
	return false
}
