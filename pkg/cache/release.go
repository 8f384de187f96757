package cache

import (
	"slices"
)

// This file holds how those who have had a resource watched leave it. A store is there for as long as somebody uses it:
// an informer that was got, until its handlers are removed again; a form that was first asked for by a read, for good;
// either until RemoveInformer. With the last of them the watch ends and the memory is given back.

// handBack takes back a use of a claim, and ends what is there for nobody now.
func (c *stores) handBack(p *place, s *store, f form, held *claim) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	held.handles--
	if held.handles == 0 && !held.kept && s.claims[f] == held {
		c.end(p, s, f)
	}
}

// giveUp takes back a use of somebody who did not wait for the list. If there is no other, the form is kept as after a read:
// the list must not start anew with each attempt to get it.
func (c *stores) giveUp(s *store, held *claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held.handles--
	held.kept = held.kept || held.handles == 0
}

// remove ends a form of a resource for all who use it, and forgets the indexes that were added for it.
func (c *stores) remove(p *place, f form) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := p.store.Load()
	if s == nil {
		p.forget(f)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.claims[f] != nil {
		p.forget(f)
		c.end(p, s, f)
	}
}

// end ends the claim of a form, and the store with its last claim. The caller holds the locks of both.
func (c *stores) end(p *place, s *store, f form) {
	s.claims[f].removed.open()
	s.claims[f] = nil
	for _, held := range s.claims {
		if held != nil && (held.kept || held.handles > 0) {
			return
		}
	}
	for f, held := range s.claims {
		if held != nil {
			held.removed.open()
			s.claims[f] = nil // whoever comes now is to find no store
		}
	}
	p.store.CompareAndSwap(s, nil)
	s.stopped.open()
}

// forget drops the definitions of a form's indexes.
func (p *place) forget(f form) {
	p.fields = slices.DeleteFunc(p.fields, func(d fieldDef) bool { return d.form == f })
}

// define adds an index to a resource's store, and to those that will take its place.
func (c *stores) define(p *place, s *store, d fieldDef) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p.store.Load() == s {
		if err := s.addField(d); err != nil {
			return err
		}
	}
	p.fields = append(p.fields, d)
	return nil
}
