package source

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/predicate"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// The first and the longest pause between two attempts to find a resource that the API server does not know (yet).
const (
	firstPause   = 50 * time.Millisecond
	longestPause = time.Second / 2
)

// Kind returns a source of what happens to the objects of obj's kind, in the form of obj (typed,
// unstructured, metadata), as cache sees it. Where there are predicates, all have to let an event pass.
func Kind[object client.Object](
	cache cache.Cache,
	obj object,
	handler handler.TypedEventHandler[object, reconcile.Request],
	predicates ...predicate.TypedPredicate[object],
) SyncingSource {
	return TypedKind(cache, obj, handler, predicates...)
}

// TypedKind returns a source of what happens to the objects of obj's kind, in the form of obj (typed,
// unstructured, metadata), as cache sees it. Where there are predicates, all have to let an event pass.
func TypedKind[object client.Object, request comparable](
	cache cache.Cache,
	obj object,
	handler handler.TypedEventHandler[object, request],
	predicates ...predicate.TypedPredicate[object],
) TypedSyncingSource[request] {
	return &kind[object, request]{cache: cache, object: obj, handler: handler, predicates: predicates}
}

type kind[object client.Object, request comparable] struct {
	cache      cache.Cache
	object     object
	handler    handler.TypedEventHandler[object, request]
	predicates []predicate.TypedPredicate[object]

	mu   sync.Mutex
	feed *feed // of the last Start
}

func (k *kind[object, request]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[request]) error {
	return k.StartIn(ctx, new(sync.WaitGroup), queue)
}

func (k *kind[object, request]) StartIn(ctx context.Context, group *sync.WaitGroup, queue workqueue.TypedRateLimitingInterface[request]) error {
	switch {
	case isNil(k.object):
		return errors.New("source.Kind without an object")
	case k.cache == nil:
		return fmt.Errorf("%s: source.Kind without a cache", k)
	case k.handler == nil:
		return fmt.Errorf("%s: source.Kind without a handler", k)
	}
	f := &feed{settled: make(chan struct{})}
	k.mu.Lock()
	k.feed = f
	k.mu.Unlock()
	group.Go(func() {
		f.run(ctx, k.cache, k.object, notify(ctx, queue, k.handler, k.predicates))
	})
	return nil
}

func (k *kind[object, request]) WaitForSync(ctx context.Context) error {
	f := k.running()
	if f == nil {
		return fmt.Errorf("%s is not started", k)
	}
	err := f.wait(ctx, func() error { return k.obstacle(ctx) })
	if errors.Is(err, errGaveUp) {
		return err // it is about all of the cache
	}
	if err != nil {
		return fmt.Errorf("%T: %w", k.object, err)
	}
	return nil
}

// Obstacle implements TypedTellingSource: an API server that does not know the resource, or a list that it refuses.
func (k *kind[object, request]) Obstacle() error {
	f := k.running()
	if f == nil || f.isSynced() {
		return nil
	}
	if err := f.reason(); err != nil {
		return fmt.Errorf("%T: %w", k.object, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := k.obstacle(ctx); err != nil {
		return fmt.Errorf("%T: %w", k.object, err)
	}
	return nil
}

// obstacle returns what keeps the cache from filling the informer. ctx has ended: a cache that is asked for an informer
// that it cannot fill in time says what is in the way.
func (k *kind[object, request]) obstacle(ctx context.Context) error {
	_, err := k.cache.GetInformer(ctx, k.object)
	return err
}

func (k *kind[object, request]) String() string {
	if isNil(k.object) {
		return "kind source: no object"
	}
	if gvk := k.object.GetObjectKind().GroupVersionKind(); !gvk.Empty() {
		return fmt.Sprintf("kind source: %T %s", k.object, gvk)
	}
	return fmt.Sprintf("kind source: %T", k.object)
}

func (k *kind[object, request]) running() *feed {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.feed
}

// feed is the connection of one informer to one queue.
type feed struct {
	settled chan struct{} // closed when the feed is synced, or never will be

	mu  sync.Mutex
	err error // why the feed is not synced; once it is settled, for good
}

// run connects the informer of obj to h until ctx ends.
func (f *feed) run(ctx context.Context, c cache.Cache, obj client.Object, h toolscache.ResourceEventHandler) {
	informer, err := f.informer(ctx, c, obj)
	if err != nil {
		f.settle(err)
		return
	}
	registration, err := informer.AddEventHandlerWithOptions(h, handlerOptions(ctx))
	if err != nil {
		f.settle(err)
		return
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	select {
	case <-registration.HasSyncedChecker().Done():
		f.settle(nil)
	case <-givesUp(ctx, &asking, c):
		f.settle(errGaveUp)
	case <-ctx.Done():
		f.settle(ctx.Err())
	}
	<-ctx.Done()
	if err := informer.RemoveEventHandler(registration); err != nil {
		log.FromContext(ctx).Error(err, "Event handler stays with its informer", "type", fmt.Sprintf("%T", obj))
	}
}

var errGaveUp = errors.New("the cache gave up before it was filled")

// givesUp returns a channel that is closed when a cache says that it will not be filled. Operon's own never says so; it tells
// what is in the way of each informer, and goes on. Those of others have WaitForCacheSync alone to say it with.
func givesUp(ctx context.Context, asking *sync.WaitGroup, c cache.Cache) <-chan struct{} {
	if _, own := c.(interface{ Started() <-chan struct{} }); own {
		return nil
	}
	never := make(chan struct{})
	asking.Go(func() {
		if !c.WaitForCacheSync(ctx) && ctx.Err() == nil {
			close(never)
		}
	})
	return never
}

// informer gets obj's informer. Where the API server does not know the resource, it goes on asking until it
// does or ctx ends.
func (f *feed) informer(ctx context.Context, c cache.Cache, obj client.Object) (cache.Informer, error) {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		informer, err := c.GetInformer(ctx, obj, cache.BlockUntilSynced(false))
		if err == nil {
			f.note(nil)
			return informer, nil
		}
		if ctx.Err() != nil || !isUnknownResource(err) {
			return nil, err
		}
		if pause == firstPause {
			log.FromContext(ctx).Info("Resource does not exist yet, waiting for it", "type", fmt.Sprintf("%T", obj), "reason", err.Error())
		}
		f.note(err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func isUnknownResource(err error) bool {
	var discovery *apiutil.ErrResourceDiscoveryFailed
	return meta.IsNoMatchError(err) || errors.As(err, &discovery)
}

func (f *feed) note(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *feed) settle(err error) {
	f.note(err)
	close(f.settled)
}

func (f *feed) reason() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *feed) isSynced() bool {
	select {
	case <-f.settled:
		return f.reason() == nil
	default:
		return false
	}
}

// wait returns when the feed is synced or cannot be. When ctx ends first, it asks why for the reason.
func (f *feed) wait(ctx context.Context, why func() error) error {
	select {
	case <-f.settled:
		return f.reason()
	default:
	}
	select {
	case <-f.settled:
		return f.reason()
	case <-ctx.Done():
	}
	err := ctx.Err()
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	err = errNotSynced{err}
	reason := f.reason()
	if reason == nil {
		reason = why()
	}
	if reason != nil {
		return fmt.Errorf("%w: %w", err, reason)
	}
	return err
}

// errNotSynced is a time-out that says of what.
type errNotSynced struct{ error }

func (errNotSynced) Error() string   { return "not in the cache in time" }
func (e errNotSynced) Unwrap() error { return e.error }

func handlerOptions(ctx context.Context) toolscache.HandlerOptions {
	logger := logr.Logger(log.FromContext(ctx))
	return toolscache.HandlerOptions{Logger: &logger}
}

// isNil sees a nil pointer inside an interface, too.
func isNil(o any) bool {
	v := reflect.ValueOf(o)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
