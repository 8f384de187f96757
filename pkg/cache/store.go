package cache

import (
	"sync"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// store holds the objects of one resource. All that changes it goes through put and drop, under its lock: watched events
// and lists (this file), and writes of our own (overlay.go). Readers take the read lock for a map lookup.
type store struct {
	*resource
	feeds       []*feed
	keepManaged bool

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

// claim is the interest in one form of a store: it lasts until RemoveInformer.
type claim struct {
	removed *gate
}

// gate is an event that happens once.
type gate struct {
	once sync.Once
	ch   chan struct{}
}

func newGate() *gate                  { return &gate{ch: make(chan struct{})} }
func (g *gate) open()                 { g.once.Do(func() { close(g.ch) }) }
func (g *gate) Done() <-chan struct{} { return g.ch }
func (g *gate) isOpen() bool {
	select {
	case <-g.ch:
		return true
	default:
		return false
	}
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
	for i := range settings {
		s.feeds = append(s.feeds, &feed{store: s, settings: settings[i]})
	}
	return s
}

// want makes sure that the feeds deliver form f, and says whether the plan had to change for it.
func (s *store) want(f form) (c *claim, changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claims[f] == nil {
		s.claims[f] = &claim{removed: newGate()}
	}
	c = s.claims[f]
	if s.plan != nil && s.plan.provides.has(f) {
		return c, false
	}
	old := s.plan
	next := &plan{wanted: formSet(0).with(f), replaced: make(chan struct{})}
	if old != nil {
		next.wanted |= old.wanted
	}
	next.admission = admission{resource: s.resource, base: next.wanted.fullest(), keepManaged: s.keepManaged}
	next.provides = s.upTo(next.base)
	if s.transforms() {
		// A transform sees every form that is read, so none can be made later from another.
		next.provides = next.wanted
	}
	s.plan = next
	if old != nil {
		close(old.replaced)
	}
	return c, true
}

func (s *store) transforms() bool {
	for _, f := range s.feeds {
		if f.Transform != nil {
			return true
		}
	}
	return false
}

func (s *store) isReady(f form) bool {
	return formSet(s.ready.Load()).has(f)
}

func (s *store) currentPlan() *plan {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.plan
}

// feedFor is the feed that delivers a namespace; nil if none does.
func (s *store) feedFor(namespace string) *feed {
	var rest *feed
	for _, f := range s.feeds {
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
	if at == nil {
		at = s.newSlot(key, e)
		s.indexes.update(s.resource, at)
		s.tell(notice{kind: added, now: e})
		return
	}
	old := at.now
	e.meta.Namespace, e.meta.Name = at.key.Namespace, at.key.Name
	at.now = e
	s.indexes.update(s.resource, at)
	if old.meta.UID != e.meta.UID {
		// Deleted and made again, and the event between the two was missed.
		s.tell(notice{kind: vanished, now: old})
		s.tell(notice{kind: added, now: e})
		return
	}
	s.tell(notice{kind: updated, old: old, now: e})
}

// swap puts a fuller form of the same version in the place of an entry. Nothing has happened to the object.
func (s *store) swap(at *slot, e *entry) {
	at.now = e
	s.indexes.update(s.resource, at)
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

// watched takes in an object that an event of feed f showed.
func (s *store) watched(f *feed, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.take(f, e)
}

// take applies the rules by which a feed's view of an object gets into the store: never over a newer version,
// never after the object's end. The caller holds the lock.
func (s *store) take(f *feed, e *entry) {
	if e.rv == opaqueVersion {
		s.opaque = true
	}
	key := client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name}
	if s.outdated(key, e) {
		return
	}
	at := s.slot(key)
	if at == nil {
		s.put(e)
		return
	}
	switch cur := at.now; {
	case s.opaque:
		if cur.meta.UID == e.meta.UID && cur.meta.ResourceVersion == e.meta.ResourceVersion {
			s.swap(at, e)
			return
		}
		s.put(e)
	case e.rv > cur.rv:
		s.put(e)
	case e.rv == cur.rv && !s.holdsAll(cur, e):
		s.swap(at, e)
	}
}

// holdsAll says whether cur can be read in every way that e, the same version, can.
func (s *store) holdsAll(cur, e *entry) bool {
	if cur.partial && !e.partial || e.form > cur.form {
		return false
	}
	if d := e.derived.Load(); d != nil {
		had := cur.derived.Load()
		for f, view := range d.views {
			if view != nil && form(f) != cur.form && (had == nil || had.views[f] == nil) {
				return false
			}
		}
	}
	return true
}

// watchedEnd takes in that an object was deleted, or left what feed f selects. e is its state as the event showed it,
// at the resourceVersion at which this happened.
func (s *store) watchedEnd(f *feed, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.rv == opaqueVersion {
		s.opaque = true
	}
	if !f.selective() {
		delete(s.ended, e.meta.UID) // this was its last event
	}
	key := client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name}
	if at := s.slot(key); at != nil {
		cur := at.now
		same := cur.meta.UID == e.meta.UID
		// Where nothing is selected the end of this UID is its end, whatever its number says. Where something is, a write of
		// ours may have brought the object back since.
		if !s.opaque && e.rv <= cur.rv && !(same && (e.rv == cur.rv || !f.selective())) {
			return
		}
		if same {
			s.drop(at, notice{kind: deleted, now: e})
		} else {
			s.drop(at, notice{kind: vanished, now: cur})
		}
	}
	s.miss(f, key, e.rv)
}

// replace takes in a whole list of what feed f delivers, as it was at resourceVersion rv.
func (s *store) replace(f *feed, p *plan, list []*entry, version string) {
	rv := parseVersion(version)
	listed := make(map[client.ObjectKey]types.UID, len(list))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opaque = s.opaque || rv == opaqueVersion
	for _, e := range list {
		listed[client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name}] = e.meta.UID
		s.take(f, e)
	}
	for namespace, names := range s.namespaces {
		if s.feedFor(namespace) != f {
			continue
		}
		for name, at := range names {
			uid, ok := listed[client.ObjectKey{Namespace: namespace, Name: name}]
			if ok && uid == at.now.meta.UID || !s.opaque && at.now.rv > rv {
				continue
			}
			s.drop(at, notice{kind: vanished, now: at.now})
		}
	}
	s.relisted(f, listed, rv)
	f.provides = p.provides
	s.admitReaders()
}

// progress takes in that feed f has delivered everything up to a resourceVersion.
func (s *store) progress(f *feed, version string) {
	rv := parseVersion(version)
	if rv == opaqueVersion {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.floor = max(f.floor, rv)
	s.sweep(time.Now())
}

// admitReaders lets those in whose form all feeds have filled. The caller holds the lock.
func (s *store) admitReaders() {
	forms := s.feeds[0].provides
	for _, f := range s.feeds[1:] {
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
