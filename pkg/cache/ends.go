package cache

// This file holds what a store remembers of objects that are no more, against what is on its way from before.

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
