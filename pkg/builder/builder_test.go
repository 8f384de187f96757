package builder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/controller"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/predicate"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
)

// fakeManager has a cache whose informers are driven by the test.
type fakeManager struct {
	manager.Manager
	defaults config.Controller
	cache    *fakeCache
	added    int
}

func newManager() *fakeManager {
	return &fakeManager{cache: &fakeCache{informers: map[string]*fakeInformer{}}}
}

func (m *fakeManager) GetControllerOptions() config.Controller { return m.defaults }
func (m *fakeManager) GetLogger() logr.Logger                  { return logr.Discard() }
func (m *fakeManager) GetScheme() *runtime.Scheme              { return clientgoscheme.Scheme }
func (m *fakeManager) GetCache() cache.Cache                   { return m.cache }
func (m *fakeManager) Add(manager.Runnable) error              { m.added++; return nil }
func (m *fakeManager) GetRESTMapper() meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	return mapper
}

type fakeCache struct {
	cache.Cache
	mu        sync.Mutex
	informers map[string]*fakeInformer // by the Go type that was asked for
}

// Started marks a cache that tells what is in the way of an informer.
func (c *fakeCache) Started() <-chan struct{} { return nil }

func (c *fakeCache) GetInformer(_ context.Context, obj client.Object, _ ...cache.InformerGetOption) (cache.Informer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := fmt.Sprintf("%T", obj)
	if _, ok := obj.(*metav1.PartialObjectMetadata); ok {
		name += " " + obj.GetObjectKind().GroupVersionKind().Kind
	}
	if c.informers[name] == nil {
		c.informers[name] = &fakeInformer{}
	}
	return c.informers[name], nil
}

func (c *fakeCache) watched() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for name := range c.informers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

type fakeInformer struct {
	cache.Informer
	mu       sync.Mutex
	handlers []toolscache.ResourceEventHandler
}

func (i *fakeInformer) AddEventHandlerWithOptions(h toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.handlers = append(i.handlers, h)
	return synced{}, nil
}

func (i *fakeInformer) RemoveEventHandler(toolscache.ResourceEventHandlerRegistration) error {
	return nil
}

func (i *fakeInformer) add(obj any) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, h := range i.handlers {
		h.OnAdd(obj, false)
	}
}

type synced struct{}

func (synced) HasSynced() bool                            { return true }
func (s synced) HasSyncedChecker() toolscache.DoneChecker { return s }
func (synced) Name() string                               { return "synced" }
func (synced) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// reconciled starts c, calls during when its sources are synced, and returns the first n requests that are reconciled.
func reconciled(t *testing.T, c controller.Controller, got <-chan reconcile.Request, n int, during func()) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var once sync.Once
	if err := c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q.Add(reconcile.Request{})
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	var names []string
	for len(names) < n {
		r := <-got
		if r.Name != "" {
			names = append(names, r.String())
			continue
		}
		once.Do(during)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return names
}

func owned(name string, owners ...metav1.OwnerReference) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, OwnerReferences: owners}}
}

func deployment(name string, controller bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "apps/v1", Kind: "Deployment", Name: name, Controller: &controller}
}

func TestForOwnsAndWatchesAskForTheRightObjects(t *testing.T) {
	m := newManager()
	got := make(chan reconcile.Request, 20)
	r := reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
		got <- r
		return reconcile.Result{}, nil
	})
	not := func(name string) predicate.Predicate {
		return predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetName() != name })
	}
	mapped := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, o client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: types.NamespacedName{Name: "mapped-" + o.GetName()}}}
	})
	c, err := ControllerManagedBy(m).
		Named("relations").
		For(&appsv1.Deployment{}, WithPredicates(not("filtered-by-for"))).
		Owns(&corev1.Secret{}).
		Owns(&corev1.ConfigMap{}, MatchEveryOwner, WithPredicates(not("filtered-by-owns"))).
		Owns(&corev1.ServiceAccount{}, OnlyMetadata).
		Watches(&corev1.Node{}, mapped, WithPredicates(not("filtered-by-watches"))).
		WatchesMetadata(&corev1.Namespace{}, mapped).
		WithEventFilter(not("filtered")).
		Build(r)
	if err != nil {
		t.Fatal(err)
	}
	if m.added != 1 {
		t.Errorf("the manager was given %d runnables, want 1", m.added)
	}
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "ns", Name: name} }
	names := reconciled(t, c, got, 7, func() {
		if diff := cmp.Diff([]string{
			"*v1.ConfigMap", "*v1.Deployment", "*v1.Node", "*v1.PartialObjectMetadata Namespace", "*v1.PartialObjectMetadata ServiceAccount", "*v1.Secret",
		}, m.cache.watched()); diff != "" {
			t.Errorf("watched (-want +got):\n%s", diff)
		}
		in := m.cache.informers
		in["*v1.Deployment"].add(&appsv1.Deployment{ObjectMeta: named("filtered")})
		in["*v1.Deployment"].add(&appsv1.Deployment{ObjectMeta: named("filtered-by-for")})
		in["*v1.Deployment"].add(&appsv1.Deployment{ObjectMeta: named("for")})
		in["*v1.Secret"].add(owned("s", deployment("no-controller", false), deployment("owner", true)))
		in["*v1.ConfigMap"].add(&corev1.ConfigMap{ObjectMeta: owned("filtered-by-owns", deployment("x", true)).ObjectMeta})
		in["*v1.ConfigMap"].add(&corev1.ConfigMap{ObjectMeta: owned("c", deployment("every-a", true), deployment("every-b", false)).ObjectMeta})
		in["*v1.PartialObjectMetadata ServiceAccount"].add(&metav1.PartialObjectMetadata{ObjectMeta: owned("a", deployment("by-metadata", true)).ObjectMeta})
		in["*v1.Node"].add(&corev1.Node{ObjectMeta: named("filtered-by-watches")})
		in["*v1.Node"].add(&corev1.Node{ObjectMeta: named("node")})
		in["*v1.PartialObjectMetadata Namespace"].add(&metav1.PartialObjectMetadata{ObjectMeta: named("namespace")})
	})
	want := []string{"ns/for", "ns/owner", "ns/every-a", "ns/every-b", "ns/by-metadata", "/mapped-node", "/mapped-namespace"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("reconciled (-want +got):\n%s", diff)
	}
}

func TestEventFilterDoesNotApplyToRawSources(t *testing.T) {
	got := make(chan reconcile.Request, 3)
	events := make(chan event.GenericEvent, 1)
	events <- event.GenericEvent{Object: owned("raw")}
	c, err := ControllerManagedBy(newManager()).
		Named("raw").
		WatchesRawSource(source.Channel(events, handler.EventHandler(&handler.EnqueueRequestForObject{}))).
		WithEventFilter(predicate.NewPredicateFuncs(func(client.Object) bool { return false })).
		Build(reconcile.Func(func(_ context.Context, r reconcile.Request) (reconcile.Result, error) {
			got <- r
			return reconcile.Result{}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ns/raw"}, reconciled(t, c, got, 1, func() {})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestBuildSaysWhatIsWrong(t *testing.T) {
	type unknown struct{ corev1.Pod }
	noop := reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) { return reconcile.Result{}, nil })
	h := &handler.EnqueueRequestForObject{}
	tests := map[string]struct {
		complete func() error
		want     string
	}{
		"no reconciler": {func() error { return ControllerManagedBy(newManager()).For(&corev1.Pod{}).Complete(nil) }, "the reconciler is nil"},
		"no manager":    {func() error { return ControllerManagedBy(nil).For(&corev1.Pod{}).Complete(noop) }, "the manager is nil"},
		"For twice": {func() error {
			return ControllerManagedBy(newManager()).For(&corev1.Pod{}).For(&corev1.Node{}).Complete(noop)
		}, "For(...) more than once"},
		"For nothing":      {func() error { return ControllerManagedBy(newManager()).For(nil).Complete(noop) }, "without an object"},
		"For unknown type": {func() error { return ControllerManagedBy(newManager()).For(&unknown{}).Complete(noop) }, "*builder.unknown"},
		"Owns without For": {func() error { return ControllerManagedBy(newManager()).Named("a").Owns(&corev1.Pod{}).Complete(noop) }, "Owns() without For()"},
		"nothing to watch": {func() error { return ControllerManagedBy(newManager()).Named("a").Complete(noop) }, "nothing to watch"},
		"no name":          {func() error { return ControllerManagedBy(newManager()).Watches(&corev1.Pod{}, h).Complete(noop) }, "Named() must be called"},
		"metadata of a mystery": {func() error {
			return ControllerManagedBy(newManager()).For(&corev1.Pod{}).WatchesMetadata(&unknown{}, h).Complete(noop)
		}, "Watches(*builder.unknown)"},
		"For with other requests": {func() error {
			other := reconcile.TypedFunc[string](func(context.Context, string) (reconcile.Result, error) { return reconcile.Result{}, nil })
			return TypedControllerManagedBy[string](newManager()).For(&corev1.Pod{}).Complete(other)
		}, "reconcile.Request"},
		"two reconcilers": {func() error {
			return ControllerManagedBy(newManager()).For(&corev1.Pod{}).WithOptions(controller.Options{Reconciler: noop}).Complete(noop)
		}, "via WithOptions() and via Build()"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := tt.complete(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("err = %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestNameAndConcurrencyComeFromTheKind(t *testing.T) {
	three := map[string]int{"Deployment.apps": 3}
	tests := map[string]struct {
		defaults config.Controller
		options  controller.Options
		want     int
	}{
		"the kind's":                        {config.Controller{GroupKindConcurrency: three, MaxConcurrentReconciles: 2}, controller.Options{}, 3},
		"the controller's own":              {config.Controller{GroupKindConcurrency: three}, controller.Options{MaxConcurrentReconciles: 1}, 1},
		"otherwise: left to the controller": {config.Controller{MaxConcurrentReconciles: 2}, controller.Options{}, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m := newManager()
			m.defaults = tt.defaults
			b := ControllerManagedBy(m).For(&appsv1.Deployment{}).WithOptions(tt.options)
			kind, err := kindOf(b)
			if err != nil {
				t.Fatal(err)
			}
			if name, err := nameOf(b, kind); name != "deployment" || err != nil {
				t.Errorf("name %q, err %v", name, err)
			}
			if got := optionsOf(b, kind, nil).MaxConcurrentReconciles; got != tt.want {
				t.Errorf("%d workers, want %d", got, tt.want)
			}
		})
	}
}

func TestLoggersHaveTheKeysOfTheController(t *testing.T) {
	var mu sync.Mutex
	lines := map[string]string{}
	logger := funcr.NewJSON(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		for _, msg := range []string{"hello", "mine", "Starting workers"} {
			if strings.Contains(line, `"`+msg+`"`) {
				lines[msg] = line
			}
		}
	}, funcr.Options{})
	tests := map[string]struct {
		options func(b *Builder) *Builder
		want    map[string][]string
		wantNot string
	}{
		"by default": {
			func(b *Builder) *Builder { return b.WithOptions(controller.Options{Logger: logger}) },
			map[string][]string{
				"hello": {
					`"controller":"deployment"`, `"controllerGroup":"apps"`, `"controllerKind":"Deployment"`,
					`"Deployment":{"name":"web","namespace":"ns"}`, `"namespace":"ns"`, `"name":"web"`, `"reconcileID":`,
				},
				"Starting workers": {`"controller":"deployment"`, `"controllerKind":"Deployment"`},
			},
			"no such thing",
		},
		"with a LogConstructor": {
			func(b *Builder) *Builder {
				return b.WithLogConstructor(func(*reconcile.Request) logr.Logger { return logger.WithName("mine") })
			},
			map[string][]string{"hello": {`"logger":"mine"`, `"reconcileID":`}, "Starting workers": {`"logger":"mine"`}},
			"controllerKind",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			clear(lines)
			m := newManager()
			got := make(chan reconcile.Request, 2)
			r := reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
				if r.Name != "" {
					log.FromContext(ctx).Info("hello")
				}
				got <- r
				return reconcile.Result{}, nil
			})
			c, err := tt.options(ControllerManagedBy(m).For(&appsv1.Deployment{})).Build(r)
			if err != nil {
				t.Fatal(err)
			}
			reconciled(t, c, got, 1, func() {
				m.cache.informers["*v1.Deployment"].add(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}})
			})
			for msg, keys := range tt.want {
				for _, key := range keys {
					if !strings.Contains(lines[msg], key) {
						t.Errorf("line %q lacks %s", lines[msg], key)
					}
				}
				if strings.Contains(lines[msg], tt.wantNot) {
					t.Errorf("line %q has %s", lines[msg], tt.wantNot)
				}
			}
		})
	}
}
