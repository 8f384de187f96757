package cache

import (
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// store holds the objects of one resource. All that changes it goes through put and drop, under its lock: what the feeds
// deliver (follow.go) and what we write ourselves (overlay.go). Readers take the read lock for a map lookup.
type store struct {
	*resource
	feeding     atomic.Pointer[[]*feed] // replaced, never changed
	keepManaged bool
	detector    *detector // nil if nobody looks for mutations
	compact     *packer   // nil if entries are not packed

	mu         sync.RWMutex
	namespaces map[string]map[string]*slot
	size       int
	indexes    indexes
	absent     map[client.ObjectKey]*absence
	ended      map[types.UID]*ending
	swept      time.Time // when the ends were last looked through
	opaque     bool      // a resourceVersion was seen that is no integer
	plan       *plan
	handlers   map[*registration]struct{}
	claims     [numForms]*claim

	ready   atomic.Uint32 // formSet: forms that every feed has filled
	filled  [numForms]*gate
	stopped *gate // removed, or the cache has ended
}

// plan is what the feeds of a store are to deliver. It is replaced, never changed.
type plan struct {
	admission
	wanted   formSet
	replaced chan struct{} // closed when there is another plan
}

func newStore(r *resource, settings []settings, keepManaged bool) *store {
	s := &store{
		resource: r, keepManaged: keepManaged,
		namespaces: map[string]map[string]*slot{}, indexes: newIndexes(),
		absent: map[client.ObjectKey]*absence{}, ended: map[types.UID]*ending{},
		handlers: map[*registration]struct{}{}, stopped: newGate(),
	}
	for f := range s.filled {
		s.filled[f] = newGate()
	}
	all := make([]*feed, 0, len(settings))
	for i := range settings {
		all = append(all, newFeed(s, settings[i]))
	}
	s.feeding.Store(&all)
	return s
}

// feeds are what brings objects into the store: those of all namespaces together, or one for each.
func (s *store) feeds() []*feed { return *s.feeding.Load() }

func (s *store) transforms() bool {
	for _, f := range s.feeds() {
		if f.Transform != nil {
			return true
		}
	}
	return false
}

func (s *store) currentPlan() *plan {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.plan
}

// feedFor is the feed that delivers a namespace; nil if none does.
func (s *store) feedFor(namespace string) *feed {
	var rest *feed
	for _, f := range s.feeds() {
		if f.namespace == namespace || !s.namespaced {
			return f
		}
		if f.namespace == metav1.NamespaceAll {
			rest = f
		}
	}
	return rest
}

// slot finds the place of a key. The caller holds the lock.
func (s *store) slot(key client.ObjectKey) *slot {
	return s.namespaces[key.Namespace][key.Name]
}

// get is the present version of an object, nil if there is none.
func (s *store) get(key client.ObjectKey) *entry {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if slot := s.slot(key); slot != nil {
		return slot.now
	}
	return nil
}

// put makes e the present version of its object and tells the handlers. The caller holds the lock and has found that
// e is newer.
func (s *store) put(e *entry) {
	key := client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name}
	delete(s.absent, key)
	at := s.slot(key)
	shown := e.shown()
	if at == nil {
		at = s.newSlot(key, e)
		s.enter(at, e)
		s.tell(notice{kind: added, now: shown})
		return
	}
	old := at.now
	e.meta.Namespace, e.meta.Name = at.key.Namespace, at.key.Name
	s.enter(at, e)
	if old.meta.UID != e.meta.UID {
		// Deleted and made again, and the event between the two was missed.
		s.tell(notice{kind: vanished, now: old})
		s.tell(notice{kind: added, now: shown})
		return
	}
	s.tell(notice{kind: updated, old: old, now: shown})
}

// swap puts a fuller form of the same version in the place of an entry. Nothing has happened to the object.
func (s *store) swap(at *slot, e *entry) { s.enter(at, e) }

// enter makes e what readers find, after its values are in the indexes.
func (s *store) enter(at *slot, e *entry) {
	at.now = e
	s.indexes.update(s.resource, at)
	e.settle()
}

func (s *store) newSlot(key client.ObjectKey, e *entry) *slot {
	names := s.namespaces[key.Namespace]
	if names == nil {
		names = map[string]*slot{}
		s.namespaces[key.Namespace] = names
	} else {
		for _, other := range names {
			key.Namespace = other.key.Namespace // one string for all
			break
		}
	}
	e.meta.Namespace = key.Namespace
	at := &slot{key: key, now: e}
	names[key.Name] = at
	s.size++
	return at
}

// drop takes an object out and tells the handlers of n.
func (s *store) drop(at *slot, n notice) {
	s.indexes.clear(at)
	names := s.namespaces[at.key.Namespace]
	delete(names, at.key.Name)
	if len(names) == 0 {
		delete(s.namespaces, at.key.Namespace)
	}
	s.size--
	s.tell(n)
}

// admitReaders lets those in whose form all feeds have filled. The caller holds the lock.
func (s *store) admitReaders() {
	forms := s.plan.provides
	for _, f := range s.feeds() {
		forms &= f.provides
	}
	forms |= formSet(s.ready.Load())
	s.ready.Store(uint32(forms))
	for f, g := range s.filled {
		if forms.has(form(f)) {
			g.open()
		}
	}
	for r := range s.handlers {
		s.feedHandler(r)
	}
}

// all calls f for every slot of a namespace, or of all, until it returns false. The caller holds the lock.
func (s *store) all(namespace string, f func(*slot) bool) {
	if namespace != metav1.NamespaceAll {
		for _, at := range s.namespaces[namespace] {
			if !f(at) {
				return
			}
		}
		return
	}
	for _, names := range s.namespaces {
		for _, at := range names {
			if !f(at) {
				return
			}
		}
	}
}
