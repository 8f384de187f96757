package cache

import (
	"maps"
	"reflect"
	"sync"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
			shareValue(reflect.ValueOf(e.meta).Elem(), reflect.ValueOf(known.meta).Elem())
		}
		return
	}
	a, b := reflect.ValueOf(e.obj), reflect.ValueOf(known.obj)
	if a.Type() == b.Type() && a.Kind() == reflect.Pointer {
		shareValue(a.Elem(), b.Elem())
	}
}

// noteShared takes note of the parts that indexes would change if they were e's own.
func (e *entry) noteShared(known *entry) {
	e.sharesLabels = reflect.ValueOf(e.meta.Labels).Pointer() == reflect.ValueOf(known.meta.Labels).Pointer()
	e.sharesOwners = len(e.meta.OwnerReferences) > 0 && len(known.meta.OwnerReferences) > 0 &&
		&e.meta.OwnerReferences[0] == &known.meta.OwnerReferences[0]
}

// shareValue makes a, which can be set, use the parts of b that equal its own. It says whether all of them do.
func shareValue(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.String:
		if a.String() != b.String() {
			return false
		}
		a.Set(b)
		return true
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		if !shareValue(a.Elem(), b.Elem()) {
			return false
		}
		a.Set(b)
		return true
	case reflect.Struct:
		if same, ok := shareLeaf(a.Addr().Interface(), b); ok {
			if same {
				a.Set(b)
			}
			return same
		}
		fields := exportedFields(a.Type())
		if fields < 0 {
			return false
		}
		all := true
		for i := range fields {
			all = shareValue(a.Field(i), b.Field(i)) && all
		}
		return all
	case reflect.Slice:
		return shareSlice(a, b)
	case reflect.Map:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		if !equalMaps(a, b) {
			return false
		}
		a.Set(b)
		return true
	case reflect.Interface:
		return a.IsNil() && b.IsNil()
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return false
	}
	return a.Equal(b)
}

func shareSlice(a, b reflect.Value) bool {
	if a.IsNil() || b.IsNil() {
		return a.IsNil() && b.IsNil()
	}
	all := a.Len() == b.Len()
	if a.Type().Elem().Kind() == reflect.Uint8 {
		if !all || string(a.Bytes()) != string(b.Bytes()) {
			return false
		}
	} else {
		for i := range min(a.Len(), b.Len()) {
			all = shareValue(a.Index(i), b.Index(i)) && all
		}
	}
	if all {
		a.Set(b)
	}
	return all
}

// shareLeaf compares the structs that objects are full of and reflection cannot look into; ok says whether a is one.
func shareLeaf(a any, b reflect.Value) (same, ok bool) {
	switch x := a.(type) {
	case *metav1.Time:
		y := b.Addr().Interface().(*metav1.Time)
		return x.Time == y.Time, true
	case *metav1.MicroTime:
		y := b.Addr().Interface().(*metav1.MicroTime)
		return x.Time == y.Time, true
	case *quantity.Quantity:
		return *x == *b.Addr().Interface().(*quantity.Quantity), true
	}
	return false, false
}

// equalMaps compares the kinds of maps that objects are full of, and takes others for different.
func equalMaps(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	switch x := a.Interface().(type) {
	case map[string]string:
		return maps.Equal(x, b.Interface().(map[string]string))
	case corev1.ResourceList:
		return maps.Equal(x, b.Interface().(corev1.ResourceList))
	}
	switch a.Type().Elem().Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int32, reflect.Int64:
		for it := a.MapRange(); it.Next(); {
			if v := b.MapIndex(it.Key()); !v.IsValid() || !it.Value().Equal(v) {
				return false
			}
		}
		return true
	}
	return false
}

// shareJSON is shareValue for what JSON decodes to. It returns what is to be used for a, and whether that is all of b.
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

var fieldCounts sync.Map // reflect.Type → int; a property of the program's types

// exportedFields is the number of fields of a struct type, or -1 if reflection may not set all of them.
func exportedFields(t reflect.Type) int {
	if known, ok := fieldCounts.Load(t); ok {
		return known.(int)
	}
	n := t.NumField()
	for f := range t.Fields() {
		if !f.IsExported() {
			n = -1
		}
	}
	fieldCounts.Store(t, n)
	return n
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
