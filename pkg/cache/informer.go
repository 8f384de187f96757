package cache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/client"
)

// informer is a store in one form.
type informer struct {
	store *store
	form  form
	claim *claim
	crew  *crew
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
	s, held, err := c.claim(p, f)
	if err != nil {
		return nil, err
	}
	if c.crew.started.isOpen() && (o.BlockUntilSynced == nil || *o.BlockUntilSynced) {
		if err := s.wait(ctx, f); err != nil {
			return nil, err
		}
	}
	return &informer{store: s, form: f, claim: held, crew: c.crew}, nil
}

// RemoveInformer implements Informers.
func (c *stores) RemoveInformer(_ context.Context, obj client.Object) error {
	p, f, err := c.placeOf(obj)
	if err != nil {
		return err
	}
	c.release(p, f)
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
	if i.IsStopped() {
		return nil, fmt.Errorf("%s (%s): the informer is stopped, no handler can be added", i.store.gvr.GroupResource(), i.form)
	}
	period := i.store.syncPeriod()
	if options.ResyncPeriod != nil {
		period = *options.ResyncPeriod
	}
	r := &registration{
		store: i.store, form: i.form, handler: handler, claim: i.claim,
		synced: newGate(), removed: newGate(), wake: make(chan struct{}, 1),
	}
	if period > 0 {
		r.resync = jitter(period)
	}
	i.store.register(r)
	i.crew.do(func(ctx context.Context) {
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
	if !ok || r.store != i.store {
		return fmt.Errorf("%s: the handler is not registered here", i.store.gvr.GroupResource())
	}
	i.store.unregister(r)
	return nil
}

// AddIndexers implements Informer.
func (i *informer) AddIndexers(indexers toolscache.Indexers) error {
	var errs []error
	for name, f := range indexers {
		errs = append(errs, i.store.addField(name, i.form, func(obj client.Object) []string {
			values, err := f(obj)
			if err != nil {
				return nil
			}
			return values
		}))
	}
	return errors.Join(errs...)
}

// HasSynced implements Informer.
func (i *informer) HasSynced() bool { return i.store.isReady(i.form) }

// HasSyncedChecker implements Informer.
func (i *informer) HasSyncedChecker() toolscache.DoneChecker {
	return done{name: fmt.Sprintf("cache of %s (%s)", i.store.gvr.GroupResource(), i.form), gate: i.store.filled[i.form]}
}

// IsStopped implements Informer.
func (i *informer) IsStopped() bool {
	return i.claim.removed.isOpen() || i.store.stopped.isOpen() || i.crew.ended.isOpen()
}
