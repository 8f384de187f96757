package manager_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	ctrlconfig "github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/envtest"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/metrics"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// atMost bounds what should take a moment.
const atMost = 30 * time.Second

// server is the control plane that the tests of this package share. The first that needs it starts it.
var server struct {
	once   sync.Once
	env    envtest.Environment
	config *rest.Config
	err    error
}

func realServer(t *testing.T) *rest.Config {
	t.Helper()
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON, the path of the operon command, is not set: make build, then export OPERON=<checkout>/bin/operon")
	}
	server.once.Do(func() {
		server.env.Controllers = true
		server.config, server.err = server.env.Start()
	})
	if server.err != nil {
		t.Fatal(server.err)
	}
	return server.config
}

// testsAndServer runs the tests, and stops the server after them.
type testsAndServer struct{ *testing.M }

func (m testsAndServer) Run() int {
	code := m.M.Run()
	if server.config == nil {
		return code
	}
	if err := server.env.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(testsAndServer{m})
}

func TestAgainstARealAPIServer(t *testing.T) {
	config := realServer(t)
	t.Run("controllers reconcile and see their own writes", func(t *testing.T) { reconciles(t, config) })
	t.Run("a replica takes over when the leader goes", func(t *testing.T) { handsOver(t, config) })
	t.Run("stopping under load loses no goroutine and no time", func(t *testing.T) { stopsUnderLoad(t, config) })
}

func newManager(t *testing.T, config *rest.Config, options ctrl.Options) ctrl.Manager {
	t.Helper()
	if options.Metrics.BindAddress == "" {
		options.Metrics.BindAddress = "0"
	}
	// Subtests use the names of controllers again.
	skip := true
	options.Controller.SkipNameValidation = &skip
	mgr, err := ctrl.NewManager(config, options)
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// start runs a manager until stop is called, which returns what Start returned.
func start(mgr ctrl.Manager) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- mgr.Start(ctx) }()
	return sync.OnceValue(func() error {
		cancel()
		return <-result
	})
}

func await(t *testing.T, ch <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-ch:
	case <-time.After(atMost):
		t.Fatalf("%s: not within %s", what, atMost)
	}
}

func namespace(t *testing.T, config *rest.Config) string {
	t.Helper()
	c, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(context.Background(), ns); err != nil {
		t.Fatal(err)
	}
	return ns.Name
}

// counter counts in the data of a ConfigMap up to ten, one step a reconciliation.
type counter struct {
	client.Client
	done  chan struct{}
	stale atomic.Int64
	steps atomic.Int64
}

func (c *counter) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := c.Get(ctx, req.NamespacedName, cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if len(cm.Data) == 10 {
		select {
		case <-c.done:
		default:
			close(c.done)
		}
		return ctrl.Result{}, nil
	}
	if cm.Data == nil {
		cm.Data = map[string]string{}
	}
	cm.Data[fmt.Sprint("step-", len(cm.Data))] = "done"
	if err := c.Update(ctx, cm); err != nil {
		return ctrl.Result{}, err
	}
	c.steps.Add(1)
	again := &corev1.ConfigMap{}
	if err := c.Get(ctx, req.NamespacedName, again); err != nil {
		return ctrl.Result{}, err
	}
	if again.ResourceVersion != cm.ResourceVersion {
		c.stale.Add(1)
	}
	return ctrl.Result{}, nil
}

func reconciles(t *testing.T, config *rest.Config) {
	ns := namespace(t, config)
	var records safeRecords
	mgr := newManager(t, config, ctrl.Options{
		Metrics:    metricsserver.Options{BindAddress: "127.0.0.1:0"},
		Controller: ctrlconfig.Controller{OnReconciled: records.add},
	})
	c := &counter{Client: mgr.GetClient(), done: make(chan struct{})}
	mine := client.ObjectKey{Namespace: ns, Name: "mine"}
	err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(only{mine, c})
	if err != nil {
		t.Fatal(err)
	}
	stop := start(mgr)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	begin := time.Now()
	<-mgr.Elected()
	if err := mgr.GetClient().Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: mine.Namespace, Name: mine.Name}}); err != nil {
		t.Fatal(err)
	}
	await(t, c.done, "ten reconciliations")
	t.Logf("ten steps after %s", time.Since(begin))
	if steps, stale := c.steps.Load(), c.stale.Load(); steps != 10 || stale != 0 {
		t.Errorf("%d updates, %d stale reads of own updates; want 10 and 0", steps, stale)
	}
	// The object may have come so early that it was in the first list.
	first := records.await(t, mine, reconcile.CauseCreate, reconcile.CauseInitialList)
	kind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	did := []reconcile.Access{
		{Verb: client.VerbGet, Kind: kind, Key: mine, Cached: true, Times: 2, Objects: 2},
		{Verb: client.VerbUpdate, Kind: kind, Key: mine, Times: 1},
	}
	if diff := cmp.Diff(did, first.Accesses); diff != "" {
		t.Errorf("what the first step read and wrote (-want +got):\n%s", diff)
	}
	records.await(t, mine, reconcile.CauseUpdate)

	direct := &corev1.ConfigMap{}
	if err := mgr.GetAPIReader().Get(context.Background(), mine, direct); err != nil || len(direct.Data) != 10 {
		t.Errorf("in the API server: %v, %v", direct.Data, err)
	}

	mgr.GetEventRecorder("example.com/counter").Eventf(direct, nil, "Normal", "Counted", "Count", "to %d", 10)
	if got := awaitEvent(t, mgr.GetAPIReader(), ns, "to 10"); got.ReportingController != "example.com/counter" || got.InvolvedObject.Name != mine.Name {
		t.Errorf("event = %+v", got)
	}

	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	exposed := map[string]bool{}
	for _, family := range families {
		exposed[family.GetName()] = true
	}
	for _, name := range []string{
		"controller_runtime_reconcile_total", "controller_runtime_reconcile_time_seconds", "controller_runtime_max_concurrent_reconciles",
		"workqueue_depth", "workqueue_adds_total", "rest_client_requests_total", "go_goroutines",
	} {
		if !exposed[name] {
			t.Errorf("metric %s is not exposed", name)
		}
	}
}

// safeRecords are the records of reconciliations.
type safeRecords struct {
	mu  sync.Mutex
	all []reconcile.Record
}

func (r *safeRecords) add(record reconcile.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, record)
}

// await returns the first record of a ConfigMap's reconciliation because of one of the causes.
func (r *safeRecords) await(t *testing.T, key client.ObjectKey, causes ...reconcile.Cause) reconcile.Record {
	t.Helper()
	for deadline := time.Now().Add(atMost); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		r.mu.Lock()
		i := slices.IndexFunc(r.all, func(record reconcile.Record) bool {
			is := record.Trigger
			return is.Kind == "ConfigMap" && is.Object == key && slices.Contains(causes, is.Cause)
		})
		if i >= 0 {
			defer r.mu.Unlock()
			return r.all[i]
		}
		r.mu.Unlock()
	}
	t.Fatalf("no reconciliation because of %v of %s", causes, key)
	return reconcile.Record{}
}

// only keeps a reconciler to one object: Kubernetes writes some of its own.
type only struct {
	key client.ObjectKey
	*counter
}

func (o only) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if req.NamespacedName != o.key {
		return ctrl.Result{}, nil
	}
	return o.counter.Reconcile(ctx, req)
}

func handsOver(t *testing.T, config *rest.Config) {
	ns := namespace(t, config)
	key := client.ObjectKey{Namespace: ns, Name: "operator"}
	// Long periods: the second replica takes over because it sees that the lease is free, and not at its next try.
	lease, renew, again := time.Minute, 50*time.Second, 40*time.Second
	replica := func(elsewhere *rest.Config) ctrl.Manager {
		return newManager(t, config, ctrl.Options{
			LeaseDuration:                 &lease,
			RenewDeadline:                 &renew,
			RetryPeriod:                   &again,
			LeaderElectionConfig:          elsewhere,
			LeaderElection:                true,
			LeaderElectionID:              key.Name,
			LeaderElectionNamespace:       key.Namespace,
			LeaderElectionReleaseOnCancel: true,
			LeaderElectionLabels:          map[string]string{"app": "operator"},
		})
	}
	var leaders atomic.Int64
	leads := manager.RunnableFunc(func(ctx context.Context) error {
		if leaders.Add(1) > 1 {
			return errors.New("two leaders")
		}
		<-ctx.Done()
		leaders.Add(-1)
		return nil
	})
	holder := func(mgr ctrl.Manager) string {
		lease := &coordinationv1.Lease{}
		if err := mgr.GetAPIReader().Get(context.Background(), key, lease); err != nil {
			t.Fatal(err)
		}
		if lease.Labels["app"] != "operator" {
			t.Errorf("labels of the lease: %v", lease.Labels)
		}
		if got := *lease.Spec.LeaseDurationSeconds; got != 60 {
			t.Errorf("the lease lasts %d s, want 60", got)
		}
		return *lease.Spec.HolderIdentity
	}

	first, second := replica(nil), replica(config)
	for _, mgr := range []ctrl.Manager{first, second} {
		if err := mgr.Add(leads); err != nil {
			t.Fatal(err)
		}
	}
	stopFirst := start(first)
	await(t, first.Elected(), "the first replica leads")
	before := holder(first)
	stopSecond := start(second)
	defer func() {
		if err := stopSecond(); err != nil {
			t.Error(err)
		}
	}()
	if !second.GetCache().WaitForCacheSync(context.Background()) {
		t.Error("the second replica's cache did not start")
	}
	select {
	case <-second.Elected():
		t.Fatal("both lead")
	default:
	}
	begin := time.Now()
	if err := stopFirst(); err != nil {
		t.Error(err)
	}
	await(t, second.Elected(), "the second replica leads")
	t.Logf("handed over in %s", time.Since(begin))
	if after := holder(second); after == before || after == "" {
		t.Errorf("the lease is held by %q, after %q", after, before)
	}
	for _, holder := range []string{before, holder(second)} {
		awaitEvent(t, second.GetAPIReader(), ns, holder+" became leader")
	}
	awaitEvent(t, second.GetAPIReader(), ns, before+" stopped leading")
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	leading := false
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "leader_election_master_status" && metric.GetLabel()[0].GetValue() == key.Name {
				leading = metric.GetGauge().GetValue() == 1
			}
		}
	}
	if !leading {
		t.Error("leader_election_master_status does not say that the operator leads")
	}
}

// awaitEvent returns the event with that message.
func awaitEvent(t *testing.T, reader client.Reader, namespace, message string) corev1.Event {
	t.Helper()
	events := &corev1.EventList{}
	for deadline := time.Now().Add(atMost); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err := reader.List(context.Background(), events, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		for _, e := range events.Items {
			if e.Message == message {
				return e
			}
		}
	}
	t.Fatalf("no event says %q; there are %+v", message, events.Items)
	return corev1.Event{}
}

func stopsUnderLoad(t *testing.T, config *rest.Config) {
	ns := namespace(t, config)
	mgr := newManager(t, config, ctrl.Options{
		HealthProbeBindAddress: "127.0.0.1:0",
	})
	var running, overlapping, done atomic.Int64
	busy := make(chan struct{})
	err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcilerFunc(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		if running.Add(1) > 1 {
			overlapping.Add(1)
		}
		defer running.Add(-1)
		if req.Namespace != ns {
			return ctrl.Result{}, nil
		}
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: req.Namespace, Name: req.Name}}
		_, err := ctrl.CreateOrUpdate(ctx, mgr.GetClient(), cm, func() error {
			if cm.Annotations == nil {
				cm.Annotations = map[string]string{}
			}
			cm.Annotations["at"] = time.Now().String()
			return nil
		})
		if done.Add(1) == 100 {
			close(busy)
		}
		if apierrors.IsConflict(err) || ctx.Err() != nil {
			return ctrl.Result{}, nil
		}
		return ctrl.Result{}, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	stop := start(mgr)
	writer, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	writing, stopWriting := context.WithCancel(context.Background())
	for w := range 4 {
		writers.Go(func() {
			for i := 0; writing.Err() == nil; i++ {
				cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprintf("cm-%d-%d", w, i)}}
				if err := writer.Create(writing, cm); err != nil && writing.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	await(t, busy, "a hundred reconciliations")
	begin := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	t.Logf("stopped in %s", time.Since(begin))
	if running.Load() != 0 || overlapping.Load() != 0 {
		t.Errorf("after the stop %d reconciliations run; %d ran beside another", running.Load(), overlapping.Load())
	}
	stopWriting()
	writers.Wait()
}

type reconcilerFunc func(context.Context, ctrl.Request) (ctrl.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	return f(ctx, req)
}
