package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
	"github.com/operon-dev/operon/examples/memcached/config"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// memcachedWorkers is how many Memcacheds are reconciled at once.
const memcachedWorkers = 10

// memcachedRun is one operator's life, from the first Memcached to the last that has converged.
type memcachedRun struct {
	pods bool // a Memcached has not converged before its pods are ready

	reconciles, calls, conflicts, stale atomic.Int64

	mu      sync.Mutex
	written map[string]int64 // the greatest version of an object that this operator's own writes have returned
}

// memcachedRows has both libraries run the same reconciler of Memcacheds. The control plane has no controllers, so that
// the time is the operator's and the API server's: a Memcached has converged when its Deployment and its Service exist
// and its status says so, for its generation.
func memcachedRows(ctx context.Context, env *environment) ([]row, error) {
	cfg, err := env.config()
	if err != nil {
		return nil, err
	}
	return convergeInTurn(ctx, cfg, env.number(1000, 200), env.plan(1, 1), "Memcacheds converged", false)
}

// memcachedPodRows does the same with fewer Memcacheds on a control plane whose controllers make Pods of the Deployments, and whose
// simulated nodes run them: a Memcached has converged when all its Pods are ready besides.
func memcachedPodRows(ctx context.Context, env *environment) (rows []row, err error) {
	plane := &envtest.Environment{Controllers: true, Nodes: 10, ControlPlaneStartTimeout: startLimit}
	cfg, err := plane.Start()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	cfg.QPS = -1
	return convergeInTurn(ctx, cfg, 30, env.plan(2, 1), "Memcacheds converged, Pods and all", true)
}

// convergeInTurn has Operon, the peer and the peer that waits for its own writes converge n Memcacheds each round.
func convergeInTurn(ctx context.Context, cfg *rest.Config, n int, p plan, name string, pods bool) ([]row, error) {
	if err := installMemcached(cfg); err != nil {
		return nil, err
	}
	contenders := []struct {
		make    operatorMaker
		variant variant
	}{{ourOperator, byDefault}, {peerOperator, byDefault}, {peerOperator, readYourWrites}}
	measures := []struct {
		name string
		unit unit
		note string
	}{
		{"wall time", nanoseconds, "from the first creation to the last status, with the creations by 8 clients"},
		{"processor time", nanoseconds, "of the operator's process, which also makes the creations; the control plane has its own"},
		{"reconciles", reconciles, ""},
		{"API calls", apiCalls, "of the operator: its reads past the cache and its writes, without its watches"},
		{"conflicts", apiCalls, "calls that were answered with 409"},
		{"stale reads", reads, "reads in the reconciler that were behind its own writes"},
	}
	for i, c := range contenders { // the API server has seen such objects before, and connections and pools are made
		if _, err := converge(ctx, cfg, c.make, c.variant, fmt.Sprintf("memcached-%d", i), max(n/20, 5), pods); err != nil {
			return nil, err
		}
	}
	found := make([][][]float64, len(contenders))
	for round := range p.rounds() {
		for _, i := range inTurn(round, len(contenders)) {
			values, err := converge(ctx, cfg, contenders[i].make, contenders[i].variant, fmt.Sprintf("memcached-%d-%d", i, round), n, pods)
			if err != nil {
				return nil, err
			}
			found[i] = append(found[i], values)
		}
	}
	column := func(i, measure int) []float64 {
		var values []float64
		for _, round := range found[i] {
			values = append(values, round[measure])
		}
		return values
	}
	var rows []row
	for m, measure := range measures {
		for i, peer := range []string{"default", "EnableReadYourWritesConsistency"} {
			r := row{
				Name: fmt.Sprintf("%d %s: %s", n, name, measure.name), Unit: measure.unit, Note: measure.note,
				Ours: column(0, m), Peer: column(i+1, m), PeerName: peer,
			}
			if measure.unit == reads && i == 0 { // what is asked of Operon alone is asked once
				r = r.wants(atMost(0))
			}
			rows = append(rows, r)
		}
	}
	return p.of(rows...), nil
}

func installMemcached(cfg *rest.Config) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(config.CRD, crd); err != nil {
		return err
	}
	_, err := envtest.InstallCRDs(cfg, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}})
	return err
}

// converge returns the values of the measures, in their order.
func converge(ctx context.Context, cfg *rest.Config, make operatorMaker, v variant, namespace string, n int, pods bool) (values []float64, err error) {
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), v1alpha1.AddToScheme(known)); err != nil {
		return nil, err
	}
	direct, err := client.New(cfg, client.Options{Scheme: known})
	if err != nil {
		return nil, err
	}
	if err := direct.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return nil, err
	}
	m := &memcachedRun{pods: pods, written: map[string]int64{}}
	counted := rest.CopyConfig(cfg)
	counted.Wrap(func(next http.RoundTripper) http.RoundTripper { return countingTransport{next, m} })

	var left atomic.Int64
	left.Store(int64(n))
	var converged sync.Map
	l := newLaunch()
	o, err := make(counted, operatorSpec{
		scheme: known, namespace: namespace, workers: memcachedWorkers, variant: v,
		kind: &v1alpha1.Memcached{}, owns: []object{&appsv1.Deployment{}, &corev1.Service{}},
		reconcile: func(ctx context.Context, o objects, key types.NamespacedName) error {
			m.reconciles.Add(1)
			done, err := m.reconcile(ctx, o, key)
			if _, again := converged.Load(key); done && !again {
				if _, again = converged.LoadOrStore(key, true); !again && left.Add(-1) == 0 {
					l.reconciled()
				}
			}
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	running := start(ctx, o.start)
	defer func() { err = errors.Join(err, running.stop()) }()

	worked, began := processorTime(), time.Now()
	err = atOnce(n, 8, func(i int) error {
		return direct.Create(ctx, &v1alpha1.Memcached{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("cache-%04d", i)},
			Spec:       v1alpha1.MemcachedSpec{Size: 3, Image: "memcached:1.6-alpine"},
		})
	})
	if err != nil {
		return nil, err
	}
	select {
	case at := <-l.first:
		return []float64{
			float64(at.Sub(began)), float64(processorTime() - worked),
			float64(m.reconciles.Load()), float64(m.calls.Load()), float64(m.conflicts.Load()), float64(m.stale.Load()),
		}, nil
	case err := <-running.ended:
		running.ended <- nil
		return nil, fmt.Errorf("the manager ended: %w", err)
	case <-ctx.Done():
		return nil, fmt.Errorf("%d of %d Memcacheds have not converged: %w", left.Load(), n, ctx.Err())
	}
}

// countingTransport counts what is not a watch.
type countingTransport struct {
	next http.RoundTripper
	run  *memcachedRun
}

// RoundTrip implements http.RoundTripper.
func (t countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if r.URL.Query().Get("watch") == "" {
		t.run.calls.Add(1)
		if err == nil && response.StatusCode == http.StatusConflict {
			t.run.conflicts.Add(1)
		}
	}
	return response, err
}

// reconcile is the operator that both libraries run. It reports whether the Memcached has converged.
func (m *memcachedRun) reconcile(ctx context.Context, o objects, key types.NamespacedName) (bool, error) {
	memcached := &v1alpha1.Memcached{}
	if err := m.read(ctx, o, key, "Memcached", memcached); err != nil {
		return false, ignoreNotFound(err)
	}
	owned := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
	deployment := &appsv1.Deployment{ObjectMeta: owned}
	if err := m.ensure(ctx, o, memcached, "Deployment", deployment, func() { fillDeployment(deployment, memcached) }); err != nil {
		return false, err
	}
	service := &corev1.Service{ObjectMeta: owned}
	if err := m.ensure(ctx, o, memcached, "Service", service, func() { fillService(service, memcached) }); err != nil {
		return false, err
	}
	status := v1alpha1.MemcachedStatus{
		Replicas: deployment.Status.Replicas, ReadyReplicas: deployment.Status.ReadyReplicas, Conditions: slices.Clone(memcached.Status.Conditions),
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionProgressing, Status: metav1.ConditionTrue, Reason: "RollingOut", ObservedGeneration: memcached.Generation,
		Message: fmt.Sprintf("%d of %d nodes are ready", status.ReadyReplicas, memcached.Spec.Size),
	})
	done := !m.pods || status.ReadyReplicas == memcached.Spec.Size
	if equality.Semantic.DeepEqual(memcached.Status, status) {
		return done, nil
	}
	memcached.Status = status
	if err := o.updateStatus(ctx, memcached); err != nil {
		return false, err
	}
	m.wrote("Memcached", memcached)
	return done, nil
}

// read gets an object from the cache and counts what is behind this operator's own writes.
func (m *memcachedRun) read(ctx context.Context, o objects, key types.NamespacedName, kind string, into object) error {
	m.mu.Lock()
	least := m.written[kind+"/"+key.String()]
	m.mu.Unlock()
	err := o.get(ctx, key, into)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if least > 0 && (err != nil || versionOf(into) < least) {
		m.stale.Add(1)
	}
	return err
}

func (m *memcachedRun) wrote(kind string, obj object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := kind + "/" + obj.GetNamespace() + "/" + obj.GetName()
	m.written[key] = max(m.written[key], versionOf(obj))
}

// versionOf returns 0 for an object that has none. The versions of one resource compare as integers.
func versionOf(obj object) int64 {
	version, err := strconv.ParseInt(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// ensure creates obj, or updates it where fill changes it.
func (m *memcachedRun) ensure(ctx context.Context, o objects, owner *v1alpha1.Memcached, kind string, obj object, fill func()) error {
	err := m.read(ctx, o, types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}, kind, obj)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return err
	}
	before := obj.DeepCopyObject()
	fill()
	obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, v1alpha1.GroupVersion.WithKind("Memcached"))})
	switch {
	case missing:
		err = o.create(ctx, obj)
	case equality.Semantic.DeepEqual(before, obj):
		return nil
	default:
		err = o.update(ctx, obj)
	}
	if err != nil {
		return err
	}
	m.wrote(kind, obj)
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func memcachedLabels(memcached *v1alpha1.Memcached) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": memcached.Name}
}

func fillDeployment(deployment *appsv1.Deployment, memcached *v1alpha1.Memcached) {
	labels := memcachedLabels(memcached)
	deployment.Labels = labels
	deployment.Spec.Replicas = ptr.To(memcached.Spec.Size)
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	template := &deployment.Spec.Template
	template.Labels = labels
	if len(template.Spec.Containers) == 0 {
		template.Spec.Containers = []corev1.Container{{Name: "memcached"}}
	}
	container := &template.Spec.Containers[0]
	container.Image = memcached.Spec.Image
	container.Ports = []corev1.ContainerPort{{Name: "memcached", ContainerPort: 11211, Protocol: corev1.ProtocolTCP}}
}

func fillService(service *corev1.Service, memcached *v1alpha1.Memcached) {
	service.Labels = memcachedLabels(memcached)
	service.Spec.ClusterIP = corev1.ClusterIPNone
	service.Spec.Selector = memcachedLabels(memcached)
	service.Spec.Ports = []corev1.ServicePort{{Name: "memcached", Port: 11211, TargetPort: intstr.FromString("memcached"), Protocol: corev1.ProtocolTCP}}
}
