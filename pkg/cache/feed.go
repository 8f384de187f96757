package cache

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"github.com/operon-dev/operon/pkg/client"
)

// feed keeps a store up to date with one namespace, or with all but those that have feeds of their own: it lists and
// watches with one set of selectors, through client-go's Reflector.
type feed struct {
	store *store
	settings

	provides formSet // forms delivered so far; guarded by the store's lock, as is
	floor    uint64  // the resourceVersion up to which everything has been delivered
	reached  uint64  // the highest resourceVersion that was seen; no later list is from before it

	fault   fault
	filled  *gate // a list has arrived
	stopped *gate // its namespace is not held any more; opened under the store's lock
}

func newFeed(s *store, settings settings) *feed {
	return &feed{store: s, settings: settings, filled: newGate(), stopped: newGate()}
}

// over says whether what the feed still brings is of no interest. The caller holds the store's lock.
func (f *feed) over() bool { return f.stopped.isOpen() }

// selective says whether objects can enter and leave the feed without being made or deleted.
func (f *feed) selective() bool {
	return f.LabelSelector != nil && !f.LabelSelector.Empty() || f.FieldSelector != nil && !f.FieldSelector.Empty()
}

// reach takes note of a resourceVersion that the server has shown. The caller holds the store's lock.
func (f *feed) reach(rv uint64) {
	if rv != opaqueVersion {
		f.reached = max(f.reached, rv)
	}
}

// driver is what makes feeds go; it is the same for all of a cache.
type driver struct {
	open        opener
	onError     toolscache.WatchErrorHandlerWithContext // may be nil
	newInformer newInformerFunc                         // nil for a Reflector
}

// run feeds the store until ctx ends or the store or the feed is stopped. When the plan changes the Reflector is stopped and another
// one, in the fuller form, takes over: at no time are there two.
func (f *feed) run(ctx context.Context, d driver) {
	for !f.store.stopped.isOpen() && !f.stopped.isOpen() {
		p := f.store.currentPlan()
		runCtx, cancel := context.WithCancel(ctx)
		var reflector sync.WaitGroup
		reflector.Go(func() { f.reflect(runCtx, p, d) })
		again := false
		select {
		case <-ctx.Done():
		case <-f.store.stopped.Done():
		case <-f.stopped.Done():
		case <-p.replaced:
			again = true
		}
		cancel()
		reflector.Wait()
		if !again {
			return
		}
	}
}

func (f *feed) reflect(ctx context.Context, p *plan, d driver) {
	src, err := d.open(f.store.resource, p.base)
	if err != nil {
		f.fault.note(ctx, f, "list", err)
		<-ctx.Done()
		return
	}
	// The Reflector does not wait for a list that it gives up: each holds this lock for reading.
	var lists sync.RWMutex
	defer func() {
		lists.Lock()
		defer lists.Unlock()
	}()
	lw := f.listWatch(ctx, src, &lists)
	logger := klog.FromContext(ctx)
	k := &sink{feed: f, plan: p, logger: logger}
	if d.newInformer != nil {
		f.inform(ctx, lw, k, d)
		return
	}
	r := toolscache.NewReflectorWithOptions(lw, p.example(), k, toolscache.ReflectorOptions{
		Logger: &logger, Name: "cache", TypeDescription: f.store.gvr.String(),
		Clock:   interruptible{after: func(d time.Duration) <-chan time.Time { return after(ctx, f.pause(d)) }},
		Backoff: &wait.Backoff{Duration: pauseMin, Factor: 2, Jitter: 0.5, Steps: 20, Cap: pauseMax},
	})
	pause := pauseMin
	for {
		begun := time.Now()
		if err := r.ListAndWatchWithContext(ctx); err != nil && ctx.Err() == nil && d.onError != nil {
			d.onError(ctx, r, err)
		}
		if time.Since(begun) > pauseReset {
			pause = pauseMin
		}
		pause = f.pause(pause)
		<-after(ctx, jitter(pause))
		if ctx.Err() != nil {
			return
		}
		pause = min(2*pause, pauseMax)
	}
}

// listWatch is how the Reflector asks for what the feed selects, until ctx ends. It holds lists for reading during each list.
func (f *feed) listWatch(ctx context.Context, src source, lists *sync.RWMutex) *toolscache.ListWatch {
	return &toolscache.ListWatch{
		ListWithContextFunc: func(_ context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			lists.RLock()
			defer lists.RUnlock()
			f.selectOnly(&opts)
			if opts.ResourceVersion == "0" {
				// What the server happens to have at hand may be older than a write of ours that has no event to come.
				opts.ResourceVersion = ""
			}
			list, err := src.list(ctx, f.namespace, opts)
			f.fault.note(ctx, f, "list", err)
			return list, err
		},
		WatchFuncWithContext: func(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			f.selectOnly(&opts)
			if f.EnableWatchBookmarks != nil && !*f.EnableWatchBookmarks && opts.SendInitialEvents == nil {
				opts.AllowWatchBookmarks = false
			}
			w, err := src.watch(ctx, f.namespace, opts)
			if opts.SendInitialEvents == nil || !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
				f.fault.note(ctx, f, "watch", err) // a server that does not stream lists is asked for one instead
			}
			if opts.SendInitialEvents != nil && err == nil {
				f.fault.clear(ctx, "list") // it comes by the watch
			}
			return w, err
		},
	}
}

// Between two attempts of a feed there is a pause, which doubles until an attempt has lasted.
const (
	pauseMin   = 100 * time.Millisecond
	pauseMax   = 30 * time.Second
	pauseReset = 10 * time.Second
	// A resource that is not there, since its definition was deleted, may come back at any time, and asking for it costs
	// little.
	pauseMissing = 500 * time.Millisecond
)

// pause shortens a pause where it is known how long the feed is to wait at most.
func (f *feed) pause(d time.Duration) time.Duration {
	now := f.fault.err()
	if now == nil {
		return d
	}
	if apierrors.IsNotFound(now) {
		return min(d, pauseMissing)
	}
	// A server that gets ready, or has too much to do, says when to come again: there is no need to come later.
	if seconds, ok := apierrors.SuggestsClientDelay(now.Err); ok && seconds > 0 && apierrors.IsTooManyRequests(now.Err) {
		return min(d, time.Duration(seconds)*time.Second)
	}
	return d
}

// selectOnly asks for what the feed selects, and nothing of the namespaces that have feeds of their own.
func (f *feed) selectOnly(opts *metav1.ListOptions) {
	asked := (&client.ListOptions{LabelSelector: f.LabelSelector, FieldSelector: f.serverFields()}).AsListOptions()
	opts.LabelSelector, opts.FieldSelector = asked.LabelSelector, asked.FieldSelector
}

// example is an object such as a Reflector in this plan is to receive.
func (p *plan) example() client.Object {
	switch p.base {
	case formMetadata:
		return &metav1.PartialObjectMetadata{}
	case formTyped:
		return newObject(p.resource)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(p.gvk)
	return u
}

// sink is the store as a Reflector sees it.
type sink struct {
	feed   *feed
	plan   *plan
	logger klog.Logger
}

var (
	_ toolscache.ReflectorStore         = &sink{}
	_ toolscache.ReflectorBookmarkStore = &sink{}
	_ toolscache.TransformingStore      = &sink{}
)

// Add implements toolscache.ReflectorStore.
func (k *sink) Add(obj any) error { return k.event(obj, k.feed.store.watched) }

// Update implements toolscache.ReflectorStore.
func (k *sink) Update(obj any) error { return k.event(obj, k.feed.store.watched) }

// Delete implements toolscache.ReflectorStore.
func (k *sink) Delete(obj any) error { return k.event(obj, k.feed.store.watchedEnd) }

func (k *sink) event(obj any, apply func(*feed, *entry)) error {
	e, err := k.entry(obj)
	if err != nil || e == nil {
		return err
	}
	k.feed.store.condense(e, k.feed.store.relative(e))
	apply(k.feed, e)
	return nil
}

// entry admits an object; nil when another feed is in charge of it.
func (k *sink) entry(obj any) (*entry, error) {
	o, ok := obj.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%s: a %T is not an object", k.plan.gvr.GroupResource(), obj)
	}
	if k.feed.store.feedFor(o.GetNamespace()) != k.feed {
		return nil, nil
	}
	return k.plan.entry(o, k.feed.Transform)
}

// Replace implements toolscache.ReflectorStore. An object that cannot be admitted is left out; the others are not to
// suffer for it.
func (k *sink) Replace(list []any, rv string) error {
	entries := make([]*entry, 0, len(list))
	relatives := newRelatives(k.feed.store)
	for i, obj := range list {
		list[i] = nil
		if e, ok := obj.(*entry); ok {
			if k.feed.store.feedFor(e.meta.Namespace) == k.feed {
				entries = append(entries, e)
			}
			continue
		}
		e, err := k.entry(obj)
		if err != nil {
			k.logger.Error(err, "An object is not cached")
			continue
		}
		if e != nil {
			relatives.adopt(e)
			entries = append(entries, e)
		}
	}
	k.feed.store.replace(k.feed, k.plan, entries, rv)
	return nil
}

// Transformer implements toolscache.TransformingStore. A list that is streamed is collected by the Reflector before it
// comes to Replace: as entries, which take a fraction of the memory. What cannot be admitted is left for Replace.
func (k *sink) Transformer() toolscache.TransformFunc {
	relatives := newRelatives(k.feed.store)
	return func(obj any) (any, error) {
		e, err := k.entry(obj)
		if err != nil || e == nil {
			return obj, nil
		}
		relatives.adopt(e)
		return e, nil
	}
}

// Bookmark implements toolscache.ReflectorBookmarkStore.
func (k *sink) Bookmark(rv string) error {
	k.feed.store.progress(k.feed, rv)
	return nil
}

// Resync implements toolscache.ReflectorStore. Each handler has a resync period of its own; the Reflector's is not used.
func (k *sink) Resync() error { return nil }

// interruptible is a clock whose waits end with a context: the Reflector waits out some of its delays without looking
// at its own.
type interruptible struct {
	clock.RealClock
	after func(time.Duration) <-chan time.Time
}

// After implements clock.Clock.
func (c interruptible) After(d time.Duration) <-chan time.Time { return c.after(d) }

func after(ctx context.Context, d time.Duration) <-chan time.Time {
	ch := make(chan time.Time, 2)
	stop := context.AfterFunc(ctx, func() { ch <- time.Now() })
	time.AfterFunc(d, func() {
		stop()
		ch <- time.Now()
	})
	return ch
}
