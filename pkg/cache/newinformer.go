package cache

import (
	"context"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
)

// newInformerFunc is the type of Options.NewInformer.
type newInformerFunc func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// inform feeds the store through an informer of the user's making, until ctx ends.
func (f *feed) inform(ctx context.Context, lw toolscache.ListerWatcher, k *sink, d driver) {
	informer := d.newInformer(lw, k.plan.example(), 0, toolscache.Indexers{})
	if d.onError != nil {
		if err := informer.SetWatchErrorHandlerWithContext(d.onError); err != nil {
			k.logger.Error(err, "The informer takes no handler of watch errors")
		}
	}
	relay := &relay{sink: k, before: map[client.ObjectKey]client.Object{}}
	registration, err := informer.AddEventHandler(relay)
	if err != nil {
		k.logger.Error(err, "The informer takes no handler", "resource", f.store.gvr.GroupResource())
		<-ctx.Done()
		return
	}
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	select {
	case <-registration.HasSyncedChecker().Done():
		relay.fill()
		<-ctx.Done()
	case <-ctx.Done():
	}
	running.Wait()
}

// relay brings what an informer tells into a sink: first all there is as a list, then one event after the other. The
// informer keeps what it hands over, so the sink gets copies.
type relay struct {
	sink *sink

	mu     sync.Mutex
	before map[client.ObjectKey]client.Object // nil once the list is in
	seen   uint64                             // the highest resourceVersion among what was told
}

// OnAdd implements toolscache.ResourceEventHandler.
func (r *relay) OnAdd(obj any, _ bool) { r.take(obj, r.sink.Add, false) }

// OnUpdate implements toolscache.ResourceEventHandler.
func (r *relay) OnUpdate(_, obj any) { r.take(obj, r.sink.Update, false) }

// OnDelete implements toolscache.ResourceEventHandler.
func (r *relay) OnDelete(obj any) {
	if unknown, ok := obj.(toolscache.DeletedFinalStateUnknown); ok {
		obj = unknown.Obj
	}
	r.take(obj, r.sink.Delete, true)
}

func (r *relay) take(obj any, event func(any) error, gone bool) {
	o, ok := obj.(client.Object)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if rv := parseVersion(o.GetResourceVersion()); rv != opaqueVersion {
		r.seen = max(r.seen, rv)
	}
	switch key := client.ObjectKeyFromObject(o); {
	case r.before != nil && gone:
		delete(r.before, key)
		return
	case r.before != nil:
		r.before[key] = o
		return
	}
	if err := event(o.DeepCopyObject()); err != nil {
		r.sink.logger.Error(err, "An object is not cached")
	}
}

// fill brings in what there is. It says no more than what has been told: the informer may have seen later versions.
func (r *relay) fill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]any, 0, len(r.before))
	for _, o := range r.before {
		list = append(list, o.DeepCopyObject())
	}
	r.before = nil
	at := max(r.seen, r.sink.feed.reachedSoFar())
	if err := r.sink.Replace(list, strconv.FormatUint(at, 10)); err != nil {
		r.sink.logger.Error(err, "A list is not cached")
	}
}

func (f *feed) reachedSoFar() uint64 {
	f.store.mu.RLock()
	defer f.store.mu.RUnlock()
	return f.reached
}
