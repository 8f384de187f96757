package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
	"github.com/operon-dev/operon/examples/memcached/config"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// memcachedWorkers is how many Memcacheds are reconciled at once.
const memcachedWorkers = 10

// memcachedRows has both libraries run the same reconciler of Memcacheds. The control plane has no controllers, so that
// the time is the operator's and the API server's: a Memcached has converged when its Deployment and its Service exist
// and its status says so, for its generation.
func memcachedRows(ctx context.Context, env *environment) ([]report.Row, error) {
	cfg, err := env.config()
	if err != nil {
		return nil, err
	}
	return convergeInTurn(ctx, cfg, env.number(1000, 200), env.plan(1, 1), "Memcacheds converged", false)
}

// memcachedPodRows does the same with fewer Memcacheds on a control plane whose controllers make Pods of the Deployments, and whose
// simulated nodes run them: a Memcached has converged when all its Pods are ready besides.
func memcachedPodRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
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
func convergeInTurn(ctx context.Context, cfg *rest.Config, n int, p plan, name string, pods bool) ([]report.Row, error) {
	if err := installMemcached(cfg); err != nil {
		return nil, err
	}
	contenders := []struct {
		make    operatorMaker
		variant variant
	}{{ourOperator, byDefault}, {peerOperator, byDefault}, {peerOperator, readYourWrites}}
	measures := []struct {
		name string
		unit report.Unit
		note string
	}{
		{"wall time", report.Nanoseconds, "from the first creation to the last status, with the creations by 8 clients"},
		{"processor time", report.Nanoseconds, "of the operator's process, which also makes the creations; the control plane has its own"},
		{"reconciles", report.Reconciles, ""},
		{"API calls", report.APICalls, "of the operator: its reads past the cache and its writes, without its watches"},
		{"conflicts", report.APICalls, "calls that were answered with 409"},
		{"stale reads", report.Reads, "reads in the reconciler that were behind its own writes"},
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
	var rows []report.Row
	for m, measure := range measures {
		for i, peer := range []string{"default", "EnableReadYourWritesConsistency"} {
			r := report.Row{
				Name: fmt.Sprintf("%d %s: %s", n, name, measure.name), Unit: measure.unit, Note: measure.note,
				Ours: column(0, m), Peer: column(i+1, m), PeerName: peer,
			}
			if measure.unit == report.Reads && i == 0 { // what is asked of Operon alone is asked once
				r = r.Wants(report.AtMost(0))
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
