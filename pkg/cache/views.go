package cache

import (
	"fmt"
	"reflect"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
)

// form is one of the Go shapes an object can be read in. A higher form holds all that a lower one does.
type form uint8

const (
	formMetadata form = iota // *metav1.PartialObjectMetadata
	formTyped                // the Go type the scheme has for the kind
	formFull                 // *unstructured.Unstructured: every field the server sent
	numForms
)

func (f form) String() string {
	return [...]string{"metadata", "typed", "unstructured"}[f]
}

// formOf says in which form obj, an object or a list, is asked for.
func formOf(obj runtime.Object) form {
	switch obj.(type) {
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		return formMetadata
	case runtime.Unstructured:
		return formFull
	}
	return formTyped
}

// formSet is a set of forms.
type formSet uint8

func (s formSet) has(f form) bool     { return s&(1<<f) != 0 }
func (s formSet) with(f form) formSet { return s | 1<<f }

// fullest is the highest form in a set that is not empty.
func (s formSet) fullest() form {
	for f := numForms - 1; f > 0; f-- {
		if s.has(f) {
			return f
		}
	}
	return formMetadata
}

// resource names what a store holds, and the Go type its typed form has.
type resource struct {
	gvk        schema.GroupVersionKind
	gvr        schema.GroupVersionResource
	namespaced bool
	goType     reflect.Type // pointer to the struct; nil when the scheme does not know the kind

	deepCopyInto reflect.Value // of goType, as a function; not valid if it has none
}

// name identifies an object of the resource in errors and logs.
func (r *resource) name(key client.ObjectKey) string {
	if key.Namespace == "" {
		return r.gvk.Kind + " " + key.Name
	}
	return r.gvk.Kind + " " + key.Namespace + "/" + key.Name
}

// key drops the namespace of a key where the resource has none.
func (r *resource) key(key client.ObjectKey) client.ObjectKey {
	if !r.namespaced {
		key.Namespace = ""
	}
	return key
}

// upTo is the set of forms that an object in form f can be viewed in.
func (r *resource) upTo(f form) formSet {
	s := formSet(0).with(formMetadata).with(f)
	if f == formFull && r.goType != nil {
		s = s.with(formTyped)
	}
	return s
}

// entry is one version of one object. Nothing it refers to changes once the entry is in a store.
type entry struct {
	obj  client.Object      // the object in its fullest form; nil where it is packed
	meta *metav1.ObjectMeta // of obj, or what the store needs of it; points into it where it can
	rv   uint64             // opaqueVersion where the server's resourceVersions are no integers
	form form
	// direct is the form in which obj may be handed out just so, numForms if it may not: readers of a plain entry pay
	// nothing for those that are packed or guarded.
	direct form
	// partial marks a full entry that was made of a Go type, which may not know all fields:
	// the watch event that brings the same version still replaces it.
	partial bool
	// These parts of meta belong to a published entry too and are not to be touched.
	sharesLabels, sharesOwners bool

	derived atomic.Pointer[derived]
}

// derived is what there is of an entry besides its object. It is replaced, never changed.
type derived struct {
	views  [numForms]client.Object // other views, made when they are first asked for or by a transform
	packed *packed                 // the object, if it is held compact
	guard  *guard                  // keeps an eye on what is handed out, if somebody wants that
}

func newEntry(obj client.Object, meta *metav1.ObjectMeta, f form) *entry {
	return &entry{obj: obj, meta: meta, rv: parseVersion(meta.ResourceVersion), form: f, direct: f}
}

// view is the object in form f, shared with everybody who asks, or the asker's own if the entry is private.
func (e *entry) view(r *resource, f form) (client.Object, error) {
	if e.direct == f {
		return e.obj, nil
	}
	for {
		old := e.derived.Load()
		next := &derived{}
		if old != nil {
			switch {
			case old.packed != nil:
				return old.packed.unpack(r, e.form, f)
			case old.guard != nil:
				return old.guard.view(r, e, f)
			case old.views[f] != nil:
				return old.views[f], nil
			}
			*next = *old
		}
		obj, err := e.derive(r, f)
		if err != nil {
			return nil, err
		}
		next.views[f] = obj
		if e.derived.CompareAndSwap(old, next) {
			return obj, nil
		}
	}
}

// made are the forms of which there is a view already besides the entry's own, as after a transform.
func (e *entry) made() formSet {
	var forms formSet
	d := e.derived.Load()
	if d == nil {
		return forms
	}
	for f := range numForms {
		if d.views[f] != nil || d.packed != nil && d.packed.views != nil && d.packed.views[f] != nil {
			forms = forms.with(f)
		}
	}
	return forms
}

// private says whether each view is made for who asks for it, and theirs.
func (e *entry) private() bool { return e.obj == nil }

func (e *entry) derive(r *resource, f form) (client.Object, error) {
	switch f {
	case formMetadata:
		m := &metav1.PartialObjectMetadata{ObjectMeta: *e.meta}
		m.SetGroupVersionKind(r.gvk)
		return m, nil
	case formTyped:
		full, ok := e.obj.(runtime.Unstructured)
		if !ok || r.goType == nil {
			return nil, fmt.Errorf("%s: held as %s only", r.name(client.ObjectKeyFromObject(e.obj)), e.form)
		}
		obj := reflect.New(r.goType.Elem()).Interface().(client.Object)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(full.UnstructuredContent(), obj); err != nil {
			return nil, fmt.Errorf("%s: does not fit %s: %w", r.name(client.ObjectKeyFromObject(e.obj)), r.goType, err)
		}
		obj.GetObjectKind().SetGroupVersionKind(r.gvk)
		return obj, nil
	default:
		return toFull(r, e.obj)
	}
}

// toFull makes an unstructured object of one in a lesser form; fields the lesser form does not know are missing.
func toFull(r *resource, obj client.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.name(client.ObjectKeyFromObject(obj)), err)
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(r.gvk)
	return u, nil
}

// metaOf finds an object's metadata without copying it where its type allows.
func metaOf(obj client.Object) (*metav1.ObjectMeta, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		m := &metav1.ObjectMeta{}
		raw, _ := u.Object["metadata"].(map[string]any)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(raw, m); err != nil {
			return nil, fmt.Errorf("%s %s/%s: metadata: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
		}
		return m, nil
	}
	if a, ok := obj.(metav1.ObjectMetaAccessor); ok {
		if m, ok := a.GetObjectMeta().(*metav1.ObjectMeta); ok {
			return m, nil
		}
	}
	return &metav1.ObjectMeta{
		Name: obj.GetName(), GenerateName: obj.GetGenerateName(), Namespace: obj.GetNamespace(),
		UID: obj.GetUID(), ResourceVersion: obj.GetResourceVersion(), Generation: obj.GetGeneration(),
		CreationTimestamp: obj.GetCreationTimestamp(), DeletionTimestamp: obj.GetDeletionTimestamp(),
		DeletionGracePeriodSeconds: obj.GetDeletionGracePeriodSeconds(),
		Labels:                     obj.GetLabels(), Annotations: obj.GetAnnotations(),
		OwnerReferences: obj.GetOwnerReferences(), Finalizers: obj.GetFinalizers(), ManagedFields: obj.GetManagedFields(),
	}, nil
}
