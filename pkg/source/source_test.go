package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/predicate"
)

// fakeCache has one informer, which it hands out after a number of errors.
type fakeCache struct {
	cache.Cache
	informer *fakeInformer

	mu     sync.Mutex
	errs   []error
	always error
	fault  error // of an informer that is to be waited for
	asked  []time.Time
}

func (c *fakeCache) GetInformer(_ context.Context, _ client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, time.Now())
	if len(opts) == 0 && c.fault != nil {
		return nil, c.fault
	}
	if c.always != nil {
		return nil, c.always
	}
	if len(c.errs) > 0 {
		err := c.errs[0]
		c.errs = c.errs[1:]
		return nil, err
	}
	return c.informer, nil
}

// Started marks a cache that tells what is in the way of an informer.
func (c *fakeCache) Started() <-chan struct{} { return nil }

type fakeInformer struct {
	cache.Informer
	err error

	mu       sync.Mutex
	handlers []toolscache.ResourceEventHandler
	synced   chan struct{}
	removed  int
}

func newInformer() *fakeInformer { return &fakeInformer{synced: make(chan struct{})} }

func (i *fakeInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	if i.err != nil {
		return nil, i.err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers = append(i.handlers, h)
	return registration{i.synced}, nil
}

func (i *fakeInformer) RemoveEventHandler(toolscache.ResourceEventHandlerRegistration) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.removed++
	return nil
}

type registration struct{ synced chan struct{} }

func (r registration) HasSynced() bool                          { panic("polled") }
func (r registration) HasSyncedChecker() toolscache.DoneChecker { return r }
func (r registration) Name() string                             { return "registration" }
func (r registration) Done() <-chan struct{}                    { return r.synced }

// recorder is a handler that notes what it is called with.
type recorder[T client.Object] struct {
	mu     sync.Mutex
	events []any
}

type queueOf = workqueue.TypedRateLimitingInterface[string]

func (r *recorder[T]) note(e any, name string, q queueOf) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
	q.Add(name)
}

func (r *recorder[T]) Create(_ context.Context, e event.TypedCreateEvent[T], q queueOf) {
	r.note(e, e.Object.GetName(), q)
}

func (r *recorder[T]) Update(_ context.Context, e event.TypedUpdateEvent[T], q queueOf) {
	r.note(e, e.ObjectNew.GetName(), q)
}

func (r *recorder[T]) Delete(_ context.Context, e event.TypedDeleteEvent[T], q queueOf) {
	r.note(e, e.Object.GetName(), q)
}

func (r *recorder[T]) Generic(_ context.Context, e event.TypedGenericEvent[T], q queueOf) {
	r.note(e, e.Object.GetName(), q)
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

func newQueue(t *testing.T) priorityqueue.PriorityQueue[string] {
	q := priorityqueue.New[string]("")
	t.Cleanup(q.ShutDown)
	return q
}

func noKind() error {
	return &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "example.com", Kind: "Frog"}}
}

func TestKindTurnsNotificationsIntoEvents(t *testing.T) {
	informer := newInformer()
	h := &recorder[*corev1.Pod]{}
	notC := predicate.NewTypedPredicateFuncs(func(p *corev1.Pod) bool { return p.Name != "c" })
	src := TypedKind[*corev1.Pod, string](&fakeCache{informer: informer}, &corev1.Pod{}, h, notC)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	if err := src.(TypedOwnedSource[string]).StartIn(ctx, &group, newQueue(t)); err != nil {
		t.Fatal(err)
	}
	close(informer.synced)
	if err := src.WaitForSync(ctx); err != nil {
		t.Fatal(err)
	}

	a, b, c := pod("a"), pod("b"), pod("c")
	n := informer.handlers[0]
	n.OnAdd(a, true)
	n.OnAdd(b, false)
	n.OnAdd(c, false)
	n.OnUpdate(a, b)
	n.OnUpdate(a, c)
	n.OnDelete(a)
	n.OnDelete(c)
	n.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "b", Obj: b})
	n.OnDelete(&toolscache.DeletedFinalStateUnknown{Key: "b", Obj: b})
	n.OnAdd(&corev1.Node{}, false)
	n.OnUpdate(a, &corev1.Node{})
	n.OnUpdate(nil, a)
	n.OnDelete("key")
	want := []any{
		event.TypedCreateEvent[*corev1.Pod]{Object: a, IsInInitialList: true},
		event.TypedCreateEvent[*corev1.Pod]{Object: b},
		event.TypedUpdateEvent[*corev1.Pod]{ObjectOld: a, ObjectNew: b},
		event.TypedDeleteEvent[*corev1.Pod]{Object: a},
		event.TypedDeleteEvent[*corev1.Pod]{Object: b, DeleteStateUnknown: true},
		event.TypedDeleteEvent[*corev1.Pod]{Object: b, DeleteStateUnknown: true},
	}
	if diff := cmp.Diff(want, h.events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	cancel()
	group.Wait()
	if informer.removed != 1 {
		t.Errorf("the handler was removed %d times after the context ended, want once", informer.removed)
	}
}

func TestKindIsSyncedWhenItsHandlerIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := newInformer()
		src := Kind(&fakeCache{informer: informer}, client.Object(&corev1.Pod{}), &handler.EnqueueRequestForObject{})
		if err := src.WaitForSync(t.Context()); err == nil {
			t.Error("synced before it was started")
		}
		if err := src.Start(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		synced := make(chan error)
		go func() { synced <- src.WaitForSync(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-synced:
			t.Fatalf("synced before its handler was: %v", err)
		default:
		}
		close(informer.synced)
		if err := <-synced; err != nil {
			t.Error(err)
		}
	})
}

func TestKindSaysWhatItWaitsFor(t *testing.T) {
	tests := map[string]struct {
		cache func() cache.Cache
		want  string
		is    error
	}{
		"the watch": {
			func() cache.Cache { return &fakeCache{informer: newInformer()} }, "*v1.Pod: not in the cache in time", context.DeadlineExceeded,
		},
		"the watch, and the cache knows why": {
			func() cache.Cache { return &fakeCache{informer: newInformer(), fault: io.ErrNoProgress} },
			"*v1.Pod: not in the cache in time: " + io.ErrNoProgress.Error(), io.ErrNoProgress,
		},
		"the resource": {
			func() cache.Cache { return &fakeCache{always: noKind()} }, `*v1.Pod: not in the cache in time: no matches for kind "Frog"`, context.DeadlineExceeded,
		},
		"a cache that fails": {
			func() cache.Cache { return &fakeCache{always: io.EOF} }, "*v1.Pod: EOF", io.EOF,
		},
		"an informer that fails": {
			func() cache.Cache { return &fakeCache{informer: &fakeInformer{err: io.EOF}} }, "*v1.Pod: EOF", io.EOF,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := Kind(tt.cache(), &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
				if err := src.Start(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				err := src.WaitForSync(ctx)
				if err == nil || !strings.HasPrefix(err.Error(), tt.want) || !errors.Is(err, tt.is) {
					t.Errorf("err = %v, want %s", err, tt.want)
				}
			})
		})
	}
}

func TestKindPicksUpALateResourceWithinASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		informer := newInformer()
		close(informer.synced)
		c := &fakeCache{informer: informer, errs: make([]error, 20)}
		for i := range c.errs {
			c.errs[i] = noKind()
		}
		src := Kind(c, &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{})
		if err := src.Start(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if err := src.WaitForSync(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i := range len(c.asked) - 1 {
			if pause := c.asked[i+1].Sub(c.asked[i]); pause > time.Second {
				t.Errorf("%v between two attempts, want 1 s at most", pause)
			}
		}
	})
}

func TestSourcesThatLackSomethingDoNotStart(t *testing.T) {
	h := &handler.EnqueueRequestForObject{}
	c := &fakeCache{informer: newInformer()}
	for want, src := range map[string]Source{
		"source.Kind without an object":                       Kind[client.Object](c, nil, h),
		"source.Kind without an obj":                          Kind[client.Object](c, (*corev1.Pod)(nil), h),
		"kind source: *v1.Pod: source.Kind without a cache":   Kind[client.Object](nil, &corev1.Pod{}, h),
		"kind source: *v1.Pod: source.Kind without a handler": Kind[client.Object](c, &corev1.Pod{}, nil),
		"source.Informer without an Informer":                 &Informer{Handler: h},
		"source.Informer without a Handler":                   &Informer{Informer: c.informer},
		"source.Channel without a channel":                    Channel(nil, handler.EventHandler(h)),
		"source.Channel without a handler":                    Channel(make(chan event.GenericEvent), handler.EventHandler(nil)),
		"buffer size -1":                                      Channel(make(chan event.GenericEvent), handler.EventHandler(h), WithBufferSize[client.Object, requestOf](-1)),
	} {
		if err := src.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
}

func TestInformerHandlesEventsUntilItsContextEnds(t *testing.T) {
	informer := newInformer()
	h := &recorder[client.Object]{}
	src := &TypedInformer[client.Object, string]{Informer: informer, Handler: h}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	if err := src.StartIn(ctx, &group, newQueue(t)); err != nil {
		t.Fatal(err)
	}
	informer.handlers[0].OnAdd(pod("a"), false)
	if diff := cmp.Diff([]any{event.CreateEvent{Object: pod("a")}}, h.events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	cancel()
	group.Wait()
	if informer.removed != 1 {
		t.Errorf("handler removed %d times, want once", informer.removed)
	}
	informer.err = io.EOF
	if err := src.Start(t.Context(), nil); !errors.Is(err, io.EOF) {
		t.Errorf("err = %v, want the informer's", err)
	}
}

func TestFuncIsASource(t *testing.T) {
	f := TypedFunc[string](func(_ context.Context, q workqueue.TypedRateLimitingInterface[string]) error {
		q.Add("a")
		return io.EOF
	})
	q := newQueue(t)
	if err := f.Start(t.Context(), q); !errors.Is(err, io.EOF) || q.Len() != 1 {
		t.Errorf("err = %v, %d in the queue", err, q.Len())
	}
}

func TestKindSaysAtOnceWhatIsInItsWay(t *testing.T) {
	synced := func() *fakeInformer {
		informer := newInformer()
		close(informer.synced)
		return informer
	}
	for name, tt := range map[string]struct {
		cache func() *fakeCache
		want  string
	}{
		"nothing, it is synced":        {func() *fakeCache { return &fakeCache{informer: synced()} }, ""},
		"nothing that the cache knows": {func() *fakeCache { return &fakeCache{informer: newInformer()} }, ""},
		"what the cache says":          {func() *fakeCache { return &fakeCache{informer: newInformer(), fault: io.ErrNoProgress} }, "*v1.Pod: " + io.ErrNoProgress.Error()},
		"a resource that is not there": {func() *fakeCache { return &fakeCache{always: noKind()} }, `*v1.Pod: no matches for kind "Frog"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				src := TypedKind(tt.cache(), &corev1.Pod{}, &handler.TypedEnqueueRequestForObject[*corev1.Pod]{}).(TypedTellingSource[requestOf])
				if err := src.Obstacle(); err != nil {
					t.Errorf("before the start: %v", err)
				}
				if err := src.Start(t.Context(), nil); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				err := src.Obstacle()
				if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.HasPrefix(got, tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
			})
		})
	}
}
