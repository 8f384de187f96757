package cache

// This file holds the rules by which what a feed delivers gets into the store.

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// watched takes in an object that an event of feed f showed.
func (s *store) watched(f *feed, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.over() {
		return
	}
	f.reach(e.rv)
	s.take(e)
}

// take applies the rules by which a feed's view of an object gets into the store: never over a newer version,
// never after the object's end. The caller holds the lock.
func (s *store) take(e *entry) {
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
	case e.rv == cur.rv && cur.partial && !e.partial:
		s.put(e) // what the handlers were told was not all of it
	case e.rv == cur.rv && !s.holdsAll(cur, e):
		s.swap(at, e)
	}
}

// holdsAll says whether cur can be read in every way that e, the same version, can.
func (s *store) holdsAll(cur, e *entry) bool {
	if e.form > cur.form {
		return false
	}
	return e.made()&^cur.made()&^formSet(0).with(cur.form) == 0
}

// watchedEnd takes in that an object was deleted, or left what feed f selects. e is its state as the event showed it,
// at the resourceVersion at which this happened.
func (s *store) watchedEnd(f *feed, e *entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.over() {
		return
	}
	if e.rv == opaqueVersion {
		s.opaque = true
	}
	f.reach(e.rv)
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
	s.miss(f, key, e.meta.UID, e.rv)
}

// replace takes in a whole list of what feed f delivers, as it was at resourceVersion rv.
func (s *store) replace(f *feed, p *plan, list []*entry, version string) {
	rv := parseVersion(version)
	listed := make(map[client.ObjectKey]types.UID, len(list))
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.over() {
		return
	}
	s.opaque = s.opaque || rv == opaqueVersion
	if rv < f.reached {
		// The server's history has gone back, as after a restore from a backup: what this list says is all that holds.
		defer func(opaque bool) { s.opaque = opaque }(s.opaque)
		s.opaque = true
		s.forgetEnds(f)
	}
	for _, e := range list {
		listed[client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name}] = e.meta.UID
		s.take(e)
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
	f.filled.open()
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
	f.reach(rv)
	f.floor = max(f.floor, rv)
	s.sweep(time.Now())
}
