package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/client"
)

// informer is the use of a store in one form.
type informer struct {
	cache *stores
	place *place
	form  form

	mu       sync.Mutex
	store    *store // nil while it is not used
	claim    *claim
	handlers int
}

var _ Informer = &informer{}

// GetInformer implements Informers.
func (c *stores) GetInformer(ctx context.Context, obj client.Object, opts ...InformerGetOption) (Informer, error) {
	p, f, err := c.placeOf(obj)
	if err != nil {
		return nil, err
	}
	return c.informer(ctx, p, f, opts)
}

// GetInformerForKind implements Informers.
func (c *stores) GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...InformerGetOption) (Informer, error) {
	p, err := c.placeOfKind(gvk)
	if err != nil {
		return nil, err
	}
	f := formTyped
	if p.goType == nil {
		f = formFull
	}
	return c.informer(ctx, p, f, opts)
}

func (c *stores) informer(ctx context.Context, p *place, f form, opts []InformerGetOption) (Informer, error) {
	var o InformerGetOptions
	for _, opt := range opts {
		opt(&o)
	}
	blocks := c.crew.started.isOpen() && (o.BlockUntilSynced == nil || *o.BlockUntilSynced)
	looks := ctx.Err() != nil // it is got to see how things stand
	if blocks && looks && !p.wanted(f) {
		// It would start what nobody waits for.
		return nil, &notFilled{what: fmt.Sprintf("%s (%s)", p.gvr.GroupResource(), f), ctx: ctx.Err()}
	}
	s, held, err := c.claim(p, f, toHandle)
	if err != nil {
		return nil, err
	}
	if blocks {
		err := s.wait(ctx, f)
		switch {
		case err == nil:
		case looks:
			c.handBack(p, s, f, held)
			return nil, err
		default:
			c.giveUp(s, held)
			return nil, err
		}
	}
	i := &informer{cache: c, place: p, form: f, store: s, claim: held}
	if ctx.Err() != nil {
		i.leave(0) // a handler makes it used
	}
	return i, nil
}

// wanted says whether somebody has asked for a form.
func (p *place) wanted(f form) bool {
	s := p.store.Load()
	return s != nil && s.claimed(f) != nil
}

// RemoveInformer implements Informers.
func (c *stores) RemoveInformer(_ context.Context, obj client.Object) error {
	p, f, err := c.placeOf(obj)
	if meta.IsNoMatchError(err) {
		// It is not served any more, or never was: nobody has an informer of it.
		return nil
	}
	if err != nil {
		return err
	}
	c.remove(p, f)
	return nil
}

// AddEventHandler implements Informer.
func (i *informer) AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod implements Informer.
func (i *informer) AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, resyncPeriod time.Duration) (toolscache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, toolscache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions implements Informer.
func (i *informer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.isStopped() {
		return nil, fmt.Errorf("%s (%s): the informer is stopped, no handler can be added", i.place.gvr.GroupResource(), i.form)
	}
	if err := i.takeUp(); err != nil {
		return nil, err
	}
	period := i.store.syncPeriod()
	if options.ResyncPeriod != nil {
		period = *options.ResyncPeriod
	}
	r := &registration{
		store: i.store, form: i.form, handler: handler, claim: i.claim, informer: i,
		synced: newGate(), removed: newGate(), wake: make(chan struct{}, 1),
	}
	if period > 0 {
		r.resync = jitter(period)
	}
	i.handlers++
	i.store.register(r)
	i.cache.crew.do(func(ctx context.Context) {
		if options.Logger != nil {
			ctx = klog.NewContext(ctx, *options.Logger)
		}
		r.run(ctx)
	})
	return r, nil
}

// RemoveEventHandler implements Informer.
func (i *informer) RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*registration)
	if !ok || r.store.resource != i.place.resource {
		return fmt.Errorf("%s: the handler is not registered here", i.place.gvr.GroupResource())
	}
	if r.store.unregister(r) {
		r.informer.leave(1)
	}
	if i != r.informer {
		i.leave(0) // it was got to remove the handler of another
	}
	return nil
}

// takeUp makes an informer that has been left used again. The caller holds its lock.
func (i *informer) takeUp() (err error) {
	if i.store == nil {
		i.store, i.claim, err = i.cache.claim(i.place, i.form, toHandle)
	}
	return err
}

// leave takes note of handlers that are no more, and hands back the store with the last.
func (i *informer) leave(handlers int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers -= handlers
	if i.handlers == 0 && i.store != nil && !i.isStopped() {
		i.cache.handBack(i.place, i.store, i.form, i.claim)
		i.store, i.claim = nil, nil
	}
}

// AddIndexers implements Informer.
func (i *informer) AddIndexers(indexers toolscache.Indexers) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if err := i.takeUp(); err != nil {
		return err
	}
	var errs []error
	for name, f := range indexers {
		errs = append(errs, i.cache.define(i.place, i.store, fieldDef{name: name, form: i.form, extract: func(obj client.Object) []string {
			values, err := f(obj)
			if err != nil {
				return nil
			}
			return values
		}}))
	}
	return errors.Join(errs...)
}

// HasSynced implements Informer.
func (i *informer) HasSynced() bool {
	s := i.present()
	return s != nil && s.isReady(i.form)
}

// present is the store as it is now, whoever uses it; nil if there is none.
func (i *informer) present() *store {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.store != nil {
		return i.store
	}
	return i.place.store.Load()
}

// HasSyncedChecker implements Informer.
func (i *informer) HasSyncedChecker() toolscache.DoneChecker {
	synced := newGate()
	if s := i.present(); s != nil {
		synced = s.filled[i.form]
	}
	return done{name: fmt.Sprintf("cache of %s (%s)", i.place.gvr.GroupResource(), i.form), gate: synced}
}

// IsStopped implements Informer.
func (i *informer) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.isStopped()
}

func (i *informer) isStopped() bool {
	return i.cache.crew.ended.isOpen() || i.store != nil && (i.claim.removed.isOpen() || i.store.stopped.isOpen())
}
