package cache

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// NewCacheFunc makes a cache: New, or what a program puts in its place.
type NewCacheFunc func(config *rest.Config, opts Options) (Cache, error)

// New makes a cache of the objects of the API server that cfg leads to. It has to be started before it can be read.
//
// The cache is a [client.WriteObserver]: what clients that read from it write, it shows at once.
func New(cfg *rest.Config, opts Options) (Cache, error) {
	if opts.Scheme == nil {
		opts.Scheme = clientgoscheme.Scheme
	}
	if opts.HTTPClient == nil {
		c, err := rest.HTTPClientFor(cfg)
		if err != nil {
			return nil, fmt.Errorf("http client for %s: %w", cfg.Host, err)
		}
		opts.HTTPClient = c
	}
	if opts.Mapper == nil {
		m, err := apiutil.NewDynamicRESTMapper(cfg, opts.HTTPClient)
		if err != nil {
			return nil, fmt.Errorf("REST mapper for %s: %w", cfg.Host, err)
		}
		opts.Mapper = m
	}
	return newStores(opts, newServer(cfg, opts.HTTPClient, opts.Scheme, opts.KeepManagedFields).open)
}

// stores is the Cache: a store for each resource that was asked for.
type stores struct {
	options Options
	byKind  map[schema.GroupVersionKind]ByObject
	driver  driver
	crew    *crew

	detector   *detector // nil if nobody looks for mutations
	restricted bool      // to the namespaces in options.DefaultNamespaces, which is guarded by mu

	mu        sync.RWMutex
	kinds     map[schema.GroupVersionKind]*place
	resources map[schema.GroupVersionResource]*place
	types     sync.Map // reflect.Type of a Go type with one kind → *place
}

// place is where the store of a resource is, when there is one.
type place struct {
	*resource
	store  atomic.Pointer[store]
	fields []fieldDef // indexes that each store is to have; guarded by stores.mu
}

var (
	_ Cache                      = &stores{}
	_ client.SubresourceObserver = &stores{}
)

func newStores(opts Options, open opener) (*stores, error) {
	byKind, err := opts.byKind()
	if err != nil {
		return nil, err
	}
	opts.DefaultNamespaces = maps.Clone(opts.DefaultNamespaces)
	c := &stores{
		restricted: len(opts.DefaultNamespaces) > 0,
		driver:     driver{open: open, onError: opts.DefaultWatchErrorHandler, newInformer: opts.NewInformer},
		options:    opts, byKind: byKind, crew: newCrew(), detector: newDetector(opts.OnMutation),
		kinds: map[schema.GroupVersionKind]*place{}, resources: map[schema.GroupVersionResource]*place{},
	}
	if c.detector != nil {
		c.crew.do(c.detector.run)
	}
	return c, nil
}

// Start implements Informers.
func (c *stores) Start(ctx context.Context) error {
	if err := c.crew.run(ctx); err != nil {
		return err
	}
	for _, s := range c.all() {
		s.stopped.open()
	}
	if c.detector != nil {
		c.detector.checkAll(time.Now())
	}
	return nil
}

// NeedLeaderElection says no: reads are for everybody.
func (c *stores) NeedLeaderElection() bool { return false }

// Started is closed when the cache can be read from; reads then wait for no more than what they ask for. The manager
// waits for it, so that one resource that cannot be listed does not hold up the controllers of others.
func (c *stores) Started() <-chan struct{} { return c.crew.started.Done() }

// WaitForCacheSync implements Informers.
func (c *stores) WaitForCacheSync(ctx context.Context) bool {
	select {
	case <-c.crew.started.Done():
	case <-ctx.Done():
		klog.FromContext(ctx).Info("The cache was not started")
		return false
	}
	complete := true
	for _, s := range c.all() {
		for f := range numForms {
			if s.claimed(f) == nil {
				continue
			}
			if err := s.wait(ctx, f); err != nil && (ctx.Err() != nil || c.crew.ended.isOpen()) {
				klog.FromContext(ctx).Error(err, "A resource is not cached yet", "resource", s.gvr.GroupResource())
				complete = false
			}
		}
	}
	return complete
}

func (c *stores) all() []*store {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []*store
	for _, p := range c.resources {
		if s := p.store.Load(); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// placeOf finds the place of an object's or a list's resource.
func (c *stores) placeOf(obj runtime.Object) (*place, form, error) {
	f := formOf(obj)
	if f == formTyped {
		if p, ok := c.types.Load(reflect.TypeOf(obj)); ok {
			return p.(*place), f, nil
		}
	}
	gvk, err := apiutil.GVKForObject(obj, c.options.Scheme)
	if err != nil {
		return nil, f, err
	}
	if _, ok := obj.(client.ObjectList); ok {
		gvk.Kind = strings.TrimSuffix(gvk.Kind, "List")
	}
	p, err := c.placeOfKind(gvk)
	if err != nil {
		return nil, f, err
	}
	if f == formTyped {
		if p.goType == nil {
			return nil, f, fmt.Errorf("%s: the scheme has no Go type for it", gvk)
		}
		// What is never listed, such as a Binding, can't be watched either, and its readers would wait for ever.
		if list := gvk.GroupVersion().WithKind(gvk.Kind + "List"); !c.options.Scheme.Recognizes(list) {
			return nil, f, runtime.NewNotRegisteredErrForKind(c.options.Scheme.Name(), list)
		}
		// An object of a type that the scheme knows as several kinds says itself which of them it is.
		if kinds, _, err := c.options.Scheme.ObjectKinds(obj); err == nil && len(kinds) == 1 {
			c.types.Store(reflect.TypeOf(obj), p)
		}
	}
	return p, f, nil
}

// known is the place of a kind that has been asked for before; nil if it has not.
func (c *stores) known(gvk schema.GroupVersionKind) *place {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.kinds[gvk]
}

func (c *stores) placeOfKind(gvk schema.GroupVersionKind) (*place, error) {
	if p := c.known(gvk); p != nil {
		return p, nil
	}
	mapping, err := c.options.Mapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", gvk.Kind, err)
	}
	r := &resource{gvk: gvk, gvr: mapping.Resource, namespaced: mapping.Scope.Name() == meta.RESTScopeNameNamespace}
	if r.goType, err = goTypeOf(c.options.Scheme, r); err != nil {
		return nil, err
	}
	if r.goType != nil {
		r.deepCopyInto = deepCopyIntoOf(r.goType)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.kinds[gvk]; p != nil {
		return p, nil
	}
	p := c.resources[r.gvr]
	if p == nil {
		p = &place{resource: r}
		c.resources[r.gvr] = p
	}
	c.kinds[gvk] = p
	return p, nil
}

// claim makes sure that a resource is watched in a form, for a use of it.
func (c *stores) claim(p *place, f form, u use) (*store, *claim, error) {
	if s := p.store.Load(); s != nil {
		if held := s.use(f, u); held != nil {
			return s, held, nil
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := p.store.Load()
	if s == nil {
		all, err := c.options.settingsOf(p.resource, c.byKind[p.gvk], c.restricted)
		if err != nil {
			return nil, nil, err
		}
		s = newStore(p.resource, all, c.options.KeepManagedFields)
		s.detector = c.detector
		if on := cmp.Or(c.byKind[p.gvk].Compact, c.options.DefaultCompact); on != nil && *on {
			s.compact = &packer{}
		}
		for _, ix := range p.fields {
			if err := s.addField(ix); err != nil {
				return nil, nil, err
			}
		}
		held := s.want(f, u)
		p.store.Store(s)
		for _, f := range s.feeds() {
			c.feed(f)
		}
		if c.crew.ended.isOpen() {
			s.stopped.open()
		}
		return s, held, nil
	}
	return s, s.want(f, u), nil
}

func (c *stores) feed(f *feed) {
	c.crew.do(func(ctx context.Context) { f.run(ctx, c.driver) })
}

// readable is the store of a resource once it can be read in a form.
func (c *stores) readable(ctx context.Context, p *place, f form) (*store, error) {
	if s := p.store.Load(); s != nil && s.isReady(f) {
		return s, nil
	}
	if !c.crew.started.isOpen() {
		return nil, &ErrCacheNotStarted{}
	}
	if c.options.ReaderFailOnMissingInformer {
		if !p.wanted(f) {
			return nil, &ErrResourceNotCached{GVK: p.gvk}
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			// A reconciler that comes to its end must not start a watch that outlives its controller.
			return nil, &notFilled{what: fmt.Sprintf("%s (%s)", p.gvr.GroupResource(), f), ctx: err}
		}
		s, _, err := c.claim(p, f, toRead)
		if err != nil {
			return nil, err
		}
		err = s.wait(ctx, f)
		if err == nil || !s.stopped.isOpen() || c.crew.ended.isOpen() || ctx.Err() != nil {
			return s, err
		}
		// Those for whom it was watched have left meanwhile.
	}
}
