package cache

// This file holds the rules by which the answers to the client's writes get into the store.

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// written lays the answer to a write of ours over the store. The caller holds the lock.
//
// The answer is dropped when the store has seen beyond it: a newer version of the object, its end, or a list or bookmark
// at a later resourceVersion, which has settled whether the object is there at all.
func (s *store) written(f *feed, e *entry) {
	if s.opaque || e.rv == opaqueVersion {
		return
	}
	key := client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name}
	known := f.floor
	at := s.slot(key)
	if at != nil {
		known = at.now.rv
	}
	switch {
	case e.rv <= known:
	case !s.outdated(key, e):
		s.put(e)
	case s.ended[e.meta.UID] != nil:
		// The answer to its deletion was quicker. It still says that there is no earlier object of the name.
		if at != nil {
			s.drop(at, notice{kind: vanished, now: at.now})
		}
		s.miss(f, key, e.meta.UID, e.rv)
	}
}

// writtenAway takes in that a write of ours made an object leave the selection of its feed. The caller holds the lock.
func (s *store) writtenAway(f *feed, e *entry) {
	if s.opaque || e.rv == opaqueVersion {
		return
	}
	key := client.ObjectKey{Namespace: e.meta.Namespace, Name: e.meta.Name}
	if at := s.slot(key); at != nil {
		if at.now.rv >= e.rv {
			return
		}
		s.drop(at, notice{kind: deleted, now: at.now})
	}
	s.miss(f, key, e.meta.UID, e.rv)
}

// deleted takes in that the server said an object is gone. seen is a resourceVersion that it is known to have had, or 0.
func (s *store) deleted(key client.ObjectKey, uid types.UID, seen uint64) {
	f := s.feedFor(key.Namespace)
	if f == nil || uid == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.over() {
		return
	}
	if s.opaque || seen == opaqueVersion {
		seen = 0
	}
	if gone := s.absent[key]; gone != nil && gone.uid == uid && !f.selective() {
		return // the watch was quicker
	}
	if at := s.slot(key); at != nil && at.now.meta.UID == uid {
		if !s.opaque {
			seen = max(seen, at.now.rv)
		}
		s.drop(at, notice{kind: deleted, now: at.now})
		s.miss(f, key, uid, seen)
	}
	if old := s.ended[uid]; old != nil {
		seen = max(seen, old.seen)
	}
	now := time.Now()
	s.ended[uid] = &ending{feed: f, at: now, seen: seen}
	s.sweepAtTimes(now)
}
