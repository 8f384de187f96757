package manager_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
)

// watches counts the watches of each resource that are open at the API server.
type watches struct {
	mu      sync.Mutex
	open    map[string]int
	changed chan struct{} // closed when open has changed
}

// countWatches counts those that go through the weather.
func countWatches(w *weather) *watches {
	n := &watches{open: map[string]int{}, changed: make(chan struct{})}
	w.turns(func(_ http.ResponseWriter, r *http.Request) bool {
		if isWatch(r) {
			resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
			n.add(resource, 1)
			context.AfterFunc(r.Context(), func() { n.add(resource, -1) })
		}
		return false
	})
	return n
}

func (n *watches) add(resource string, by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open[resource] += by
	close(n.changed)
	n.changed = make(chan struct{})
}

func (n *watches) await(t *testing.T, resource string, want int) {
	t.Helper()
	late := time.After(atMost)
	for {
		n.mu.Lock()
		got, changed := n.open[resource], n.changed
		n.mu.Unlock()
		if got == want {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("%d open watches of %s, want %d", got, resource, want)
		}
	}
}

// runController starts a controller of what the source brings, which runs until stop is called.
func runController(t *testing.T, name string, src source.Source) (reconciled <-chan struct{}, stop func()) {
	t.Helper()
	r, reconciled := signal()
	skip := true
	c, err := controller.NewUnmanaged(name, controller.Options{Reconciler: r, SkipNameValidation: &skip})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Watch(src); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	return reconciled, sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("controller %q: %v", name, err)
		}
	})
}

// TestAControllersWatchesEndWithIt is controller-runtime's #1884 and #2983: controllers come and go while their manager runs. The
// last one that uses a watch takes it along, the others go on, and one that comes later has what was there before it.
func TestAControllersWatchesEndWithIt(t *testing.T) {
	config := realServer(t)
	ns := namespace(t, config)
	w, through := weatherOver(t, config)
	open := countWatches(w)
	mgr := newManager(t, through, ctrl.Options{Cache: within(ns)})
	stopManager := start(mgr)
	defer func() {
		if err := stopManager(); err != nil {
			t.Error(err)
		}
	}()
	for _, obj := range []client.Object{
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "one"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "one"}},
	} {
		if err := mgr.GetClient().Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	configMaps := func() source.Source {
		return source.Kind(mgr.GetCache(), &corev1.ConfigMap{}, &handler.TypedEnqueueRequestForObject[*corev1.ConfigMap]{})
	}
	first, stopFirst := runController(t, "first", configMaps())
	defer stopFirst()
	second, stopSecond := runController(t, "second", configMaps())
	defer stopSecond()
	other, stopOther := runController(t, "other", source.Kind(mgr.GetCache(), &corev1.Secret{}, &handler.TypedEnqueueRequestForObject[*corev1.Secret]{}))
	defer stopOther()
	await(t, first, "the first controller")
	await(t, second, "the second controller")
	await(t, other, "the controller of another kind")
	open.await(t, "configmaps", 1)

	stopFirst()
	open.await(t, "configmaps", 1)
	stopSecond()
	open.await(t, "configmaps", 0)
	open.await(t, "secrets", 1)

	later, stopLater := runController(t, "later", configMaps())
	defer stopLater()
	await(t, later, "the controller that came later")
	open.await(t, "configmaps", 1)
}

// TestWhatTheFirstListBringsComesAfterWhatChanges has a worker that is held up while the first list waits: what then changes is
// reconciled before the rest of the list, which has the priority -100.
func TestWhatTheFirstListBringsComesAfterWhatChanges(t *testing.T) {
	config := realServer(t)
	ns := namespace(t, config)
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, c, ns, 5, 1)

	mgr := newManager(t, config, ctrl.Options{Cache: within(ns)})
	held, release := make(chan struct{}), make(chan struct{})
	records := make(chan reconcile.Record, 100)
	var once sync.Once
	queued := make(chan struct{})
	h := &tellingHandler{queued: map[string]chan struct{}{"made-now": queued}}
	err = ctrl.NewControllerManagedBy(mgr).Named("patient").Watches(&corev1.ConfigMap{}, h).
		WithOptions(controller.Options{OnReconciled: func(r reconcile.Record) { records <- r }}).
		Complete(reconcilerFunc(func(context.Context, ctrl.Request) (ctrl.Result, error) {
			once.Do(func() {
				close(held)
				<-release
			})
			return ctrl.Result{}, nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	stop := start(mgr)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	await(t, held, "the first reconciliation")
	if err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "made-now"}}); err != nil {
		t.Fatal(err)
	}
	await(t, queued, "the event of the creation")
	close(release)

	next := func() reconcile.Record {
		select {
		case r := <-records:
			return r
		case <-time.After(atMost):
			t.Fatalf("no reconciliation within %s", atMost)
		}
		panic("unreachable")
	}
	if r := next(); r.Priority != handler.LowPriority || r.Trigger.Cause != reconcile.CauseInitialList {
		t.Errorf("the first: priority %d, because of %q", r.Priority, r.Trigger.Cause)
	}
	for { // the namespace has a ConfigMap of its own, which the control plane may make now or have made before
		r := next()
		name := r.Request.(reconcile.Request).Name
		if strings.HasPrefix(name, "cm-") {
			t.Fatalf("%s of the first list was reconciled before what changed", name)
		}
		if name == "made-now" {
			if r.Priority != 0 || r.Trigger.Cause != reconcile.CauseCreate {
				t.Errorf("what changed: priority %d, because of %q", r.Priority, r.Trigger.Cause)
			}
			break
		}
		if r.Priority == handler.LowPriority {
			t.Fatalf("%s of the first list was reconciled before what changed", name)
		}
	}
}

// tellingHandler asks for the object of an event, and tells when those that are created with certain names have been queued.
type tellingHandler struct {
	handler.EnqueueRequestForObject
	queued map[string]chan struct{}
}

func (h *tellingHandler) Create(ctx context.Context, e event.CreateEvent, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	h.EnqueueRequestForObject.Create(ctx, e, q)
	if ch := h.queued[e.Object.GetName()]; ch != nil {
		close(ch)
	}
}
