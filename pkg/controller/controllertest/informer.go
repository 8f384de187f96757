package controllertest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// InformerOption is a setting for NewFakeInformer.
type InformerOption interface {
	// Apply writes the setting into the options.
	Apply(*InformerOptions)
}

// InformerOptions are the settings of NewFakeInformer.
type InformerOptions struct {
	// Synced says whether the informer is synced from the start. Default: false.
	Synced bool
}

// Synced is the option that has the informer synced from the start.
var Synced = synced{}

type synced struct{}

// Apply implements InformerOption.
func (synced) Apply(o *InformerOptions) { o.Synced = true }

// FakeInformer is a shared informer whose events the test makes: [FakeInformer.Add], [FakeInformer.Update],
// [FakeInformer.Delete], and [FakeInformer.Synced] for the end of the first list. Get one from NewFakeInformer.
type FakeInformer struct {
	// RunCount is how often Run and RunWithContext were called. Read it when none of them can be under way.
	RunCount int

	mu       sync.Mutex
	handlers []*registration
	synced   chan struct{} // closed when synced
	indexer  cache.Indexer
}

var _ cache.SharedIndexInformer = &FakeInformer{}

// NewFakeInformer returns an informer without handlers or objects. It is not synced, unless an option says so.
func NewFakeInformer(opts ...InformerOption) *FakeInformer {
	var o InformerOptions
	for _, opt := range opts {
		opt.Apply(&o)
	}
	f := &FakeInformer{
		synced:  make(chan struct{}),
		indexer: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{}),
	}
	if o.Synced {
		close(f.synced)
	}
	return f
}

// registration is a handler of an informer. Nothing is ever on its way to the handler, so it is synced when the informer is.
type registration struct {
	informer *FakeInformer
	handler  cache.ResourceEventHandler
}

func (r *registration) HasSynced() bool                     { return r.informer.HasSynced() }
func (r *registration) HasSyncedChecker() cache.DoneChecker { return r.informer.HasSyncedChecker() }

// AddEventHandler adds a handler. It hears of the events from now on.
func (f *FakeInformer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	r := &registration{informer: f, handler: handler}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers = append(f.handlers, r)
	return r, nil
}

// AddEventHandlerWithResyncPeriod is AddEventHandler: there are no resyncs.
func (f *FakeInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler, _ time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return f.AddEventHandler(handler)
}

// AddEventHandlerWithOptions is AddEventHandler: the options change nothing.
func (f *FakeInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler, _ cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	return f.AddEventHandler(handler)
}

// RemoveEventHandler removes a handler; it hears of no event that is made afterwards. Removing it twice is no error,
// removing that of another informer is one.
func (f *FakeInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*registration)
	if !ok || r.informer != f {
		return fmt.Errorf("%s: the handler is not registered here", f.Name())
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.handlers = slices.DeleteFunc(f.handlers, func(other *registration) bool { return other == r })
	return nil
}

// tell calls each handler. No lock is held meanwhile, so that a handler may use the informer.
func (f *FakeInformer) tell(event func(cache.ResourceEventHandler)) {
	f.mu.Lock()
	handlers := slices.Clone(f.handlers)
	f.mu.Unlock()
	for _, r := range handlers {
		event(r.handler)
	}
}

// keep changes the store. The only error is that obj has no metadata to be kept by: the handlers are told of it all the same.
func keep(change func(any) error, obj metav1.Object) { _ = change(obj) }

// Add puts obj into the store and tells the handlers that it was added: after the first list, even if the informer
// is not synced.
func (f *FakeInformer) Add(obj metav1.Object) {
	keep(f.indexer.Add, obj)
	f.tell(func(h cache.ResourceEventHandler) { h.OnAdd(obj, false) })
}

// Update puts newObj into the store and tells the handlers that it was oldObj before. oldObj need not have been added.
func (f *FakeInformer) Update(oldObj, newObj metav1.Object) {
	keep(f.indexer.Update, newObj)
	f.tell(func(h cache.ResourceEventHandler) { h.OnUpdate(oldObj, newObj) })
}

// Delete takes obj out of the store and tells the handlers that it was deleted. It need not have been added.
func (f *FakeInformer) Delete(obj metav1.Object) {
	keep(f.indexer.Delete, obj)
	f.tell(func(h cache.ResourceEventHandler) { h.OnDelete(obj) })
}

// Synced makes the informer, and the registrations of its handlers, synced. It can be called again.
func (f *FakeInformer) Synced() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.HasSynced() {
		close(f.synced)
	}
}

// HasSynced says whether the informer is synced.
func (f *FakeInformer) HasSynced() bool {
	select {
	case <-f.synced:
		return true
	default:
		return false
	}
}

// HasSyncedChecker is done when the informer is synced.
func (f *FakeInformer) HasSyncedChecker() cache.DoneChecker { return f }

// Name implements cache.DoneChecker.
func (f *FakeInformer) Name() string { return "FakeInformer" }

// Done is closed when the informer is synced.
func (f *FakeInformer) Done() <-chan struct{} { return f.synced }

// Informer returns f.
func (f *FakeInformer) Informer() cache.SharedIndexInformer { return f }

// Run counts the call in RunCount and returns at once.
func (f *FakeInformer) Run(<-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.RunCount++
}

// RunWithContext counts the call in RunCount and returns at once.
func (f *FakeInformer) RunWithContext(ctx context.Context) { f.Run(ctx.Done()) }

// AddIndexers adds indexes to the store. It is an error if there is one of that name.
func (f *FakeInformer) AddIndexers(indexers cache.Indexers) error {
	return f.indexer.AddIndexers(indexers)
}

// GetStore returns the objects that were added or updated, and not deleted since.
func (f *FakeInformer) GetStore() cache.Store { return f.indexer }

// GetIndexer returns the store with its indexes.
func (f *FakeInformer) GetIndexer() cache.Indexer { return f.indexer }

// GetController returns nil: the informer has none.
func (f *FakeInformer) GetController() cache.Controller { return nil }

// LastSyncResourceVersion returns the empty string: nothing was listed.
func (f *FakeInformer) LastSyncResourceVersion() string { return "" }

// IsStopped returns false: what does not run is not stopped.
func (f *FakeInformer) IsStopped() bool { return false }

// SetTransform does nothing: handlers get the objects that the test made.
func (f *FakeInformer) SetTransform(cache.TransformFunc) error { return nil }

// SetWatchErrorHandler does nothing: there is no watch.
func (f *FakeInformer) SetWatchErrorHandler(cache.WatchErrorHandler) error { return nil }

// SetWatchErrorHandlerWithContext does nothing: there is no watch.
func (f *FakeInformer) SetWatchErrorHandlerWithContext(cache.WatchErrorHandlerWithContext) error {
	return nil
}
