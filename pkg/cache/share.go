package cache

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// Objects of one resource repeat each other: the pods of a ReplicaSet differ in little but their names and addresses,
// and the next version of an object differs in less. Entries never change, so a new one can use the parts of one that
// is there wherever they are equal. Only memory depends on it.

// condense makes an entry that is not published yet take no more memory than it must. known is one that may have much in
// common with it, or nil.
func (s *store) condense(e, known *entry) {
	switch {
	case s.detector != nil:
		e.guarded(s)
	case s.compact != nil:
		s.compact.pack(s.resource, e, known)
	default:
		e.share(known)
	}
}

// share makes an entry that is not published yet use what it has in common with a published one.
func (e *entry) share(known *entry) {
	if known == nil || known == e || known.form != e.form {
		return
	}
	defer e.noteShared(known)
	if u, ok := e.obj.(*unstructured.Unstructured); ok {
		if k, ok := known.obj.(*unstructured.Unstructured); ok {
			shareJSON(u.Object, k.Object)
			shareParts(e.meta, known.meta)
		}
		return
	}
	shareObjects(e.obj, known.obj)
}

// noteShared takes note of the parts that indexes would change if they were e's own.
func (e *entry) noteShared(known *entry) {
	e.sharesLabels = reflect.ValueOf(e.meta.Labels).Pointer() == reflect.ValueOf(known.meta.Labels).Pointer()
	e.sharesOwners = len(e.meta.OwnerReferences) > 0 && len(known.meta.OwnerReferences) > 0 &&
		&e.meta.OwnerReferences[0] == &known.meta.OwnerReferences[0]
}

// shareJSON is a sharer for what JSON decodes to. It returns what is to be used for a, and whether that is all of b.
func shareJSON(a, b any) (any, bool) {
	switch a := a.(type) {
	case map[string]any:
		known, ok := b.(map[string]any)
		if !ok {
			return a, false
		}
		all := len(a) == len(known)
		for k, w := range known {
			v, ok := a[k]
			if !ok {
				all = false
				continue
			}
			v, same := shareJSON(v, w)
			a[k] = v // the key is shared by this as well
			all = all && same
		}
		if all {
			return known, true
		}
		return a, false
	case []any:
		known, ok := b.([]any)
		if !ok {
			return a, false
		}
		all := len(a) == len(known)
		for i := range min(len(a), len(known)) {
			v, same := shareJSON(a[i], known[i])
			a[i] = v
			all = all && same
		}
		if all {
			return known, true
		}
		return a, false
	case string, int64, float64, bool, nil:
		if a == b {
			return b, true
		}
	}
	return a, false
}

// relatives finds, for objects that enter together, one each that may have much in common.
type relatives struct {
	store       *store
	byOwner     map[types.UID]*entry
	byNamespace map[string]*entry
}

func newRelatives(s *store) *relatives {
	return &relatives{store: s, byOwner: map[types.UID]*entry{}, byNamespace: map[string]*entry{}}
}

// adopt makes e share with the first that came with its owner, or else with the one before it in its namespace.
func (r *relatives) adopt(e *entry) {
	if owners := e.meta.OwnerReferences; len(owners) > 0 {
		first := r.byOwner[owners[0].UID]
		if first == nil {
			first = r.byNamespace[e.meta.Namespace]
			r.byOwner[owners[0].UID] = e
		}
		r.store.condense(e, first)
	} else {
		r.store.condense(e, r.byNamespace[e.meta.Namespace])
	}
	r.byNamespace[e.meta.Namespace] = e
}

// relative is an entry that may have much in common with e: its present version, or another one of its owner or
// namespace.
func (s *store) relative(e *entry) *entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if at := s.slot(client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name}); at != nil {
		return at.now
	}
	if owners := e.meta.OwnerReferences; len(owners) > 0 {
		if p := s.indexes.owners.postings[string(owners[0].UID)]; p != nil && len(p.slots) > 0 {
			return p.slots[0].now
		}
	}
	for _, at := range s.namespaces[e.meta.Namespace] {
		return at.now
	}
	return nil
}
