package cache

// This file holds how the answers to the client's writes come to a store: which object an answer is, and whether it is of the store's feed.
// overlay.go holds the rules by which it gets in.

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// storeOf is the store of a kind, if there is one.
func (c *stores) storeOf(gvk schema.GroupVersionKind) *store {
	if p := c.known(gvk); p != nil {
		return p.store.Load()
	}
	return nil
}

// NeedsJSON implements client.WriteObserver.
func (c *stores) NeedsJSON(gvk schema.GroupVersionKind, obj runtime.Object) bool {
	s := c.storeOf(gvk)
	if s == nil || obj == nil {
		return false
	}
	p := s.currentPlan()
	switch formOf(obj) {
	case formFull:
		return false
	case formMetadata:
		return p.base > formMetadata
	}
	return p.base == formFull || p.base == formTyped && reflect.TypeOf(obj) != s.goType
}

// ObserveWrite implements client.WriteObserver.
func (c *stores) ObserveWrite(w client.Written) {
	s := c.storeOf(w.GVK)
	if s == nil {
		return // whoever reads it first gets a list that is newer than the write
	}
	for p := s.currentPlan(); !s.observe(p, w); p = s.currentPlan() {
	}
}

// observe lays an answer over the store, in the form that plan p wants; false if there is another plan by now.
func (s *store) observe(p *plan, w client.Written) bool {
	obj := s.answer(p, w)
	if obj == nil {
		return true
	}
	meta, err := metaOf(obj)
	if err != nil {
		return true
	}
	key := s.key(client.ObjectKey{Namespace: meta.Namespace, Name: meta.Name})
	f := s.feedFor(key.Namespace)
	if f == nil {
		return true
	}
	if s.goneByNow(meta) {
		s.deleted(key, meta.UID, parseVersion(meta.ResourceVersion))
		return true
	}
	matches := f.matches(s.resource, meta.Labels, obj)
	e, err := p.entry(obj, f.Transform)
	if err != nil {
		return true // the watch will bring it, and say what is wrong with it
	}
	e.partial = e.partial || w.JSON == nil && formOf(w.Object) < p.base
	s.condense(e, s.relative(e))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.plan != p {
		return false
	}
	if f.over() {
		return true
	}
	switch {
	case matches == no:
		s.writtenAway(f, e)
	case matches == yes || s.slot(key) != nil:
		s.written(f, e)
	}
	return true
}

// ObserveDelete implements client.WriteObserver.
func (c *stores) ObserveDelete(gvk schema.GroupVersionKind, key client.ObjectKey, uid types.UID) {
	if s := c.storeOf(gvk); s != nil {
		s.deleted(s.key(key), uid, 0)
	}
}

// answer is the object that the server answered with, as the store's plan can take it, and the store's own; nil if
// there is none.
func (s *store) answer(p *plan, w client.Written) client.Object {
	if w.Object != nil {
		have := formOf(w.Object)
		if have >= p.base && (have != formTyped || reflect.TypeOf(w.Object) == s.goType) || w.JSON == nil && have == formTyped {
			return w.Object.DeepCopyObject().(client.Object)
		}
	}
	switch {
	case w.JSON == nil && w.Object != nil:
		return s.withMetadata(w.Object)
	case w.JSON == nil:
		return nil
	case p.base == formTyped:
		obj := newObject(s.resource)
		if json.Unmarshal(w.JSON, obj) != nil {
			return nil
		}
		return obj
	}
	u := &unstructured.Unstructured{}
	if u.UnmarshalJSON(w.JSON) != nil {
		return nil
	}
	return u
}

// withMetadata is the object at hand with the metadata of an answer that has nothing else, because when it was asked
// for nobody read more. nil if there is no such object.
func (s *store) withMetadata(obj client.Object) client.Object {
	cur := s.get(s.key(client.ObjectKeyFromObject(obj)))
	if cur == nil || cur.meta.UID != obj.GetUID() {
		return nil
	}
	at, err := cur.view(s.resource, cur.form)
	if err != nil {
		return nil
	}
	next := at.DeepCopyObject().(client.Object)
	next.SetLabels(maps.Clone(obj.GetLabels()))
	next.SetAnnotations(maps.Clone(obj.GetAnnotations()))
	next.SetOwnerReferences(slices.Clone(obj.GetOwnerReferences()))
	next.SetFinalizers(slices.Clone(obj.GetFinalizers()))
	next.SetDeletionTimestamp(obj.GetDeletionTimestamp().DeepCopy())
	next.SetDeletionGracePeriodSeconds(obj.GetDeletionGracePeriodSeconds())
	next.SetGeneration(obj.GetGeneration())
	next.SetResourceVersion(obj.GetResourceVersion())
	return next
}
