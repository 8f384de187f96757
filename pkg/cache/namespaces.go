package cache

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// namespaceHolder is a Cache whose namespaces can change.
type namespaceHolder interface {
	addNamespace(ctx context.Context, namespace string, config Config) error
	removeNamespace(namespace string) error
}

var _ namespaceHolder = &stores{}

// AddNamespace has a cache hold one more namespace, as if it had been in Options.DefaultNamespaces from the start, with
// config: every kind that has no namespaces of its own in [ByObject] is watched there too. Handlers are told of the
// objects that are there, as of objects that have been made. Adding a namespace that is held already changes nothing.
//
// In a started cache AddNamespace returns when all kinds that are watched have been listed there. Until then reads in the
// namespace fail with [ErrNamespaceNotCached]. When ctx ends first, the error says what kept the lists from coming; the
// namespace stays, and can be read as soon as they come.
//
// A cache of all namespaces cannot hold one more: that is an error.
func AddNamespace(ctx context.Context, c Cache, namespace string, config Config) error {
	h, ok := c.(namespaceHolder)
	if !ok {
		return fmt.Errorf("%T: its namespaces cannot change", c)
	}
	return h.addNamespace(ctx, namespace, config)
}

// RemoveNamespace has a cache give up a namespace of Options.DefaultNamespaces or [AddNamespace]: its watches end, and
// its objects leave the cache, which handlers are told of as of deletions. Reads there fail with [ErrNamespaceNotCached]
// from then on. A cache without its last namespace holds none. Removing a namespace that is not held changes nothing.
func RemoveNamespace(c Cache, namespace string) error {
	h, ok := c.(namespaceHolder)
	if !ok {
		return fmt.Errorf("%T: its namespaces cannot change", c)
	}
	return h.removeNamespace(namespace)
}

// checkNamespace says whether a namespace can come and go. The caller holds the lock.
func (c *stores) checkNamespace(namespace string) error {
	_, rest := c.options.DefaultNamespaces[AllNamespaces]
	switch {
	case namespace == AllNamespaces:
		return errors.New("a namespace that comes or goes needs a name")
	case !c.restricted || rest:
		return fmt.Errorf("namespace %q: the cache holds all namespaces; give it some in DefaultNamespaces, to which others can be added", namespace)
	}
	return nil
}

// inDefaultNamespaces are the stores of the kinds that have no namespaces of their own. The caller holds the lock.
func (c *stores) inDefaultNamespaces() []*store {
	var all []*store
	for _, p := range c.resources {
		if s := p.store.Load(); s != nil && p.namespaced && c.byKind[p.gvk].Namespaces == nil {
			all = append(all, s)
		}
	}
	return all
}

func (c *stores) addNamespace(ctx context.Context, namespace string, config Config) error {
	c.mu.Lock()
	if err := c.checkNamespace(namespace); err != nil {
		c.mu.Unlock()
		return err
	}
	if _, held := c.options.DefaultNamespaces[namespace]; !held {
		c.options.DefaultNamespaces[namespace] = config
	}
	held := c.inDefaultNamespaces()
	var errs []error
	for _, s := range held {
		all, err := c.options.settingsOf(s.resource, c.byKind[s.gvk], c.restricted)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, settings := range all {
			if settings.namespace != namespace || s.feedFor(namespace) != nil {
				continue
			}
			f := newFeed(s, settings)
			s.join(f)
			c.feed(f)
		}
	}
	c.mu.Unlock()
	if !c.crew.started.isOpen() {
		return errors.Join(errs...)
	}
	for _, s := range held {
		if err := s.awaitFeed(ctx, namespace); err != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (c *stores) removeNamespace(namespace string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.checkNamespace(namespace); err != nil {
		return err
	}
	delete(c.options.DefaultNamespaces, namespace)
	for _, s := range c.inDefaultNamespaces() {
		if f := s.feedFor(namespace); f != nil {
			s.part(f)
		}
	}
	return nil
}

// awaitFeed waits until a namespace has been listed, or is of no interest any more.
func (s *store) awaitFeed(ctx context.Context, namespace string) error {
	f := s.feedFor(namespace)
	if f == nil {
		return nil
	}
	select {
	case <-f.filled.Done():
	case <-f.stopped.Done():
	case <-s.stopped.Done():
	case <-ctx.Done():
		e := &notFilled{what: fmt.Sprintf("%s in namespace %s", s.gvr.GroupResource(), namespace), ctx: ctx.Err()}
		if err := f.fault.err(); err != nil {
			e.cause = err
		}
		return e
	}
	return nil
}

// join adds a feed. Forms that can be read stay so meanwhile.
func (s *store) join(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := append(slices.Clone(s.feeds()), f)
	s.feeding.Store(&all)
}

// part removes a feed, and all that it has brought.
func (s *store) part(f *feed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.stopped.open()
	all := slices.DeleteFunc(slices.Clone(s.feeds()), func(other *feed) bool { return other == f })
	s.feeding.Store(&all)
	s.forgetEnds(f)
	for _, at := range s.namespaces[f.namespace] {
		s.drop(at, notice{kind: vanished, now: at.now})
	}
	s.admitReaders()
}
