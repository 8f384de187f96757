package cache

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/operon-dev/operon/pkg/client"
)

// noticeKind says what happened to an object.
type noticeKind uint8

const (
	added    noticeKind = iota
	initial             // was there before the handler was
	updated             // also a resync, with old and now the same
	deleted             // now is its last state
	vanished            // deleted, and not seen to be; now is the last state known
	handedOver
)

// notice is what a handler is told. It holds entries, so that each handler gets them in its own form and nothing is made
// that nobody looks at.
type notice struct {
	kind     noticeKind
	old, now *entry
}

// registration is a handler and what it has still to be told: one goroutine works it off, in order.
type registration struct {
	store   *store
	form    form
	handler toolscache.ResourceEventHandler
	resync  time.Duration
	synced  *gate
	removed *gate
	claim   *claim

	informer *informer // through which it was registered

	live bool // has been given the content; guarded by the store's lock

	mu    sync.Mutex
	queue []notice
	spare []notice
	wake  chan struct{}
}

var _ toolscache.ResourceEventHandlerRegistration = &registration{}

// HasSynced implements toolscache.ResourceEventHandlerRegistration.
func (r *registration) HasSynced() bool { return r.synced.isOpen() }

// HasSyncedChecker implements toolscache.ResourceEventHandlerRegistration.
func (r *registration) HasSyncedChecker() toolscache.DoneChecker {
	return done{name: fmt.Sprintf("handler %T of %s (%s)", r.handler, r.store.gvr.GroupResource(), r.form), gate: r.synced}
}

// done is a gate with a name.
type done struct {
	name string
	*gate
}

func (d done) Name() string { return d.name }

// register adds a handler. It hears first of the present content, as soon as that is complete.
func (s *store) register(r *registration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handlers[r] = struct{}{}
	s.feedHandler(r)
}

// unregister says whether the handler was still registered.
func (s *store) unregister(r *registration) bool {
	r.removed.open()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.handlers[r]
	delete(s.handlers, r)
	return there
}

// feedHandler gives a handler the content once its form is complete. The caller holds the lock.
func (s *store) feedHandler(r *registration) {
	if r.live || !s.isReady(r.form) {
		return
	}
	r.live = true
	content := make([]notice, 0, s.size+1)
	s.all(metav1.NamespaceAll, func(at *slot) bool {
		content = append(content, notice{kind: initial, now: at.now})
		return true
	})
	r.push(append(content, notice{kind: handedOver})...)
}

// tell queues a notice for every handler. The caller holds the lock, which makes the order of notices the order of
// changes.
func (s *store) tell(n notice) {
	for r := range s.handlers {
		if r.live {
			r.push(n)
		}
	}
}

func (r *registration) push(ns ...notice) {
	r.mu.Lock()
	if len(r.queue) == 0 && r.spare != nil {
		r.queue, r.spare = r.spare[:0], nil
	}
	r.queue = append(r.queue, ns...)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run hands notices over until ctx ends or the registration, or all of its informer, is removed.
func (r *registration) run(ctx context.Context) {
	var resync <-chan time.Time
	if r.resync > 0 {
		ticker := time.NewTicker(r.resync)
		defer ticker.Stop()
		resync = ticker.C
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.removed.Done():
			return
		case <-r.claim.removed.Done():
			r.store.unregister(r)
			return
		case <-resync:
			r.again()
		case <-r.wake:
			r.handOver(ctx)
		}
	}
}

// again queues the present content as updates that change nothing.
func (r *registration) again() {
	s := r.store
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !r.live {
		return
	}
	content := make([]notice, 0, s.size)
	s.all(metav1.NamespaceAll, func(at *slot) bool {
		content = append(content, notice{kind: updated, old: at.now, now: at.now})
		return true
	})
	r.push(content...)
}

func (r *registration) handOver(ctx context.Context) {
	for {
		r.mu.Lock()
		batch := r.queue
		r.queue = nil
		r.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		for i, n := range batch {
			if ctx.Err() != nil || r.removed.isOpen() || r.claim.removed.isOpen() {
				return
			}
			r.deliver(ctx, n)
			if r.store.detector != nil {
				r.store.checkAfter(r.handler, n)
			}
			batch[i] = notice{}
		}
		r.mu.Lock()
		if cap(batch) <= 1024 { // the initial content need not stay allocated
			r.spare = batch
		}
		r.mu.Unlock()
	}
}

func (r *registration) deliver(ctx context.Context, n notice) {
	if n.kind == handedOver {
		r.synced.open()
		return
	}
	now := r.view(ctx, n.now)
	if now == nil {
		return
	}
	switch n.kind {
	case added:
		r.handler.OnAdd(now, false)
	case initial:
		r.handler.OnAdd(now, true)
	case updated:
		if old := r.view(ctx, n.old); old != nil {
			r.handler.OnUpdate(old, now)
		} else {
			r.handler.OnAdd(now, false)
		}
	case deleted:
		r.handler.OnDelete(now)
	case vanished:
		key := toolscache.ObjectName{Namespace: now.GetNamespace(), Name: now.GetName()}.String()
		r.handler.OnDelete(toolscache.DeletedFinalStateUnknown{Key: key, Obj: now})
	}
}

// view is the object in the handler's form; nil where the server sent something that does not fit it.
func (r *registration) view(ctx context.Context, e *entry) client.Object {
	obj, err := e.view(r.store.resource, r.form)
	if err != nil {
		klog.FromContext(ctx).Error(err, "An event could not be handed over")
		return nil
	}
	return obj
}

// jitter spreads the resyncs of many informers over time.
func jitter(period time.Duration) time.Duration {
	return time.Duration(float64(period) * (0.9 + 0.2*rand.Float64()))
}
