package cache

import (
	"context"
	"fmt"
)

// claim is the interest in one form of a store: it lasts until the last of its users leaves, or until RemoveInformer.
type claim struct {
	removed *gate

	handles int  // informers that were got and have not been left again
	kept    bool // by a read, which never leaves
}

// use is how somebody is interested in a form.
type use uint8

const (
	toIndex  use = iota // has it watched, and holds nobody from leaving
	toRead              // keeps the form, if nobody else had asked for it
	toHandle            // holds it until handed back
)

// add counts a user. The caller holds the store's lock.
func (c *claim) add(u use, first bool) {
	switch {
	case u == toHandle:
		c.handles++
	case u == toRead && first:
		c.kept = true
	}
}

// use counts a user of a form that is wanted already; nil if it is not.
func (s *store) use(f form, u use) *claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.claims[f]; c != nil {
		c.add(u, false)
		return c
	}
	return nil
}

// want makes sure that the feeds deliver form f, by another plan if this one does not provide it, and counts a user of it.
func (s *store) want(f form, u use) *claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.claims[f] == nil
	if first {
		s.claims[f] = &claim{removed: newGate()}
	}
	c := s.claims[f]
	c.add(u, first)
	if s.plan != nil && s.plan.provides.has(f) {
		return c
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
	if len(s.feeds()) == 0 {
		s.admitReaders() // there is nothing to wait for
	}
	return c
}

// claimed is the claim on a form; nil if nobody has asked for it.
func (s *store) claimed(f form) *claim {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.claims[f]
}

// isReady says whether every feed has filled a form.
func (s *store) isReady(f form) bool {
	return formSet(s.ready.Load()).has(f)
}

// wait waits until the store can be read in a form.
func (s *store) wait(ctx context.Context, f form) error {
	if s.isReady(f) {
		return nil
	}
	select {
	case <-s.filled[f].Done():
		return nil
	case <-s.stopped.Done():
		return fmt.Errorf("%s (%s): no longer watched", s.gvr.GroupResource(), f)
	case <-ctx.Done():
		return &notFilled{what: fmt.Sprintf("%s (%s)", s.gvr.GroupResource(), f), cause: s.fault(), ctx: ctx.Err()}
	}
}
