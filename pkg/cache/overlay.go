package cache

import (
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// memoryOfEnds bounds how long the end of an object is remembered when no bookmark, event or list makes it superfluous
// sooner. It is far longer than any answer or event is on its way.
const memoryOfEnds = 10 * time.Minute

// absence remembers that a key had nothing to show at a resourceVersion, so that what is on its way from before does not
// bring it back. It is superfluous once the feed has delivered everything up to there.
type absence struct {
	feed *feed
	at   time.Time
	rv   uint64
	uid  types.UID // of the object that went
}

// ending remembers that the server said, in answer to a deletion of ours, that the object with a UID is no more: no
// state of it is of interest. seen is the newest resourceVersion at which it is known to have been there.
type ending struct {
	feed *feed
	at   time.Time
	seen uint64
}

// miss remembers that a key has nothing to show as of rv, when the object with a UID went. The caller holds the lock.
func (s *store) miss(f *feed, key client.ObjectKey, uid types.UID, rv uint64) {
	if rv == opaqueVersion || rv <= f.floor {
		return
	}
	now := time.Now()
	if old := s.absent[key]; old == nil || old.rv < rv {
		s.absent[key] = &absence{feed: f, at: now, rv: rv, uid: uid}
	}
	s.sweepAtTimes(now)
}

// outdated says whether a state of a key is known not to be its last. The caller holds the lock.
func (s *store) outdated(key client.ObjectKey, e *entry) bool {
	if end := s.ended[e.meta.UID]; end != nil {
		if !s.opaque {
			end.seen = max(end.seen, e.rv)
		}
		return true
	}
	gone := s.absent[key]
	return gone != nil && !s.opaque && e.rv <= gone.rv
}

// sweepAtTimes keeps what is remembered bounded where no bookmarks come. The caller holds the lock.
func (s *store) sweepAtTimes(now time.Time) {
	if now.Sub(s.swept) > memoryOfEnds/10 {
		s.sweep(now)
	}
}

// sweep forgets the ends that nothing older can be on its way to. The caller holds the lock.
func (s *store) sweep(now time.Time) {
	s.swept = now
	for key, gone := range s.absent {
		if gone.rv <= gone.feed.floor || now.Sub(gone.at) > memoryOfEnds {
			delete(s.absent, key)
		}
	}
	for uid, end := range s.ended {
		if now.Sub(end.at) > memoryOfEnds {
			delete(s.ended, uid)
		}
	}
}

// forgetEnds forgets all that is remembered of what a feed has delivered. The caller holds the lock.
func (s *store) forgetEnds(f *feed) {
	f.floor, f.reached = 0, 0
	maps.DeleteFunc(s.absent, func(_ client.ObjectKey, gone *absence) bool { return gone.feed == f })
	maps.DeleteFunc(s.ended, func(_ types.UID, end *ending) bool { return end.feed == f })
}

// relisted draws the conclusions of a whole list for what is remembered: an object that was there before the list's
// version and is not in the list was gone by then, and its feed goes on from there. Where the feed selects, the object
// may merely have been out of the selection, so its end is remembered until that expires.
func (s *store) relisted(f *feed, listed map[client.ObjectKey]types.UID, rv uint64) {
	if rv == opaqueVersion {
		return
	}
	f.reach(rv)
	f.floor = max(f.floor, rv)
	if !f.selective() && len(s.ended) > 0 {
		there := make(map[types.UID]struct{}, len(listed))
		for _, uid := range listed {
			there[uid] = struct{}{}
		}
		for uid, end := range s.ended {
			if _, ok := there[uid]; !ok && end.feed == f && end.seen > 0 && end.seen <= rv {
				delete(s.ended, uid)
			}
		}
	}
	s.sweep(time.Now())
}

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
