package fake

import (
	"cmp"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/operon-dev/operon/pkg/client"
)

// entry is one version of one object. It does not change once it is in the store, so that readers need no lock.
type entry struct {
	// obj is in the form that its kind is stored in, and carries no managedFields: owners tells them.
	obj    client.Object
	owners *ownership
	// other is the last form, other than the stored one, that the object was asked for in.
	other atomic.Pointer[client.Object]
}

func keyOf(obj client.Object) types.NamespacedName { return client.ObjectKeyFromObject(obj) }

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// store keeps entries. Calls that change it do not overlap with others.
type store interface {
	// get returns nil if there is no such object.
	get(k *kind, key types.NamespacedName) (*entry, error)
	// list returns the entries of one namespace, or of all, ordered by namespace and name.
	list(k *kind, namespace string) ([]*entry, error)
	// put keeps e, in place of old unless that is nil.
	put(k *kind, old, e *entry, options writeOptions) error
	// remove forgets an entry.
	remove(k *kind, old *entry) error
}

// memory is a store.
type memory struct {
	collections map[schema.GroupVersionResource]*collection
}

// collection holds the entries of one kind.
type collection struct {
	entries map[types.NamespacedName]*entry
	keys    []types.NamespacedName // sorted
}

func newMemory() *memory {
	return &memory{collections: map[schema.GroupVersionResource]*collection{}}
}

func (m *memory) get(k *kind, key types.NamespacedName) (*entry, error) {
	if c := m.collections[k.tracked]; c != nil {
		return c.entries[key], nil
	}
	return nil, nil
}

func (m *memory) list(k *kind, namespace string) ([]*entry, error) {
	c := m.collections[k.tracked]
	if c == nil {
		return nil, nil
	}
	keys := c.keys
	if namespace != "" {
		from, _ := slices.BinarySearchFunc(keys, types.NamespacedName{Namespace: namespace}, compareKeys)
		to, _ := slices.BinarySearchFunc(keys, types.NamespacedName{Namespace: namespace + "\x00"}, compareKeys)
		keys = keys[from:to]
	}
	entries := make([]*entry, len(keys))
	for i, key := range keys {
		entries[i] = c.entries[key]
	}
	return entries, nil
}

func (m *memory) put(k *kind, _, e *entry, _ writeOptions) error {
	c := m.collections[k.tracked]
	if c == nil {
		c = &collection{entries: map[types.NamespacedName]*entry{}}
		m.collections[k.tracked] = c
	}
	key := keyOf(e.obj)
	if _, ok := c.entries[key]; !ok {
		at, _ := slices.BinarySearchFunc(c.keys, key, compareKeys)
		c.keys = slices.Insert(c.keys, at, key)
	}
	c.entries[key] = e
	return nil
}

func (m *memory) remove(k *kind, old *entry) error {
	c, key := m.collections[k.tracked], keyOf(old.obj)
	delete(c.entries, key)
	if at, ok := slices.BinarySearchFunc(c.keys, key, compareKeys); ok {
		c.keys = slices.Delete(c.keys, at, at+1)
	}
	return nil
}

// change is something that happened to an object.
type change struct {
	sequence uint64
	typ      watch.EventType
	tracked  schema.GroupVersionResource
	// before is nil for what was added; after is the final version of what was deleted.
	before, after *entry
}

// remembered is how many changes a watch can go back.
const remembered = 1024

// history holds the last changes, for watches that begin in the past.
type history struct {
	changes []change // in order
}

func (h *history) add(c change) {
	if len(h.changes) >= 2*remembered {
		h.changes = append(h.changes[:0:0], h.changes[len(h.changes)-remembered:]...)
	}
	h.changes = append(h.changes, c)
}

// since returns the changes after sequence. It reports false if some of them have been forgotten.
func (h *history) since(sequence, now uint64) ([]change, bool) {
	if sequence >= now {
		return nil, true
	}
	if len(h.changes) == 0 || h.changes[0].sequence > sequence+1 {
		return nil, false
	}
	from, _ := slices.BinarySearchFunc(h.changes, sequence+1, func(c change, s uint64) int { return cmp.Compare(c.sequence, s) })
	return h.changes[from:], true
}
