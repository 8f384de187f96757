package nodes

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/manager"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
	"golang.org/x/sync/errgroup"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/rest"
)

// Options says how many nodes there are and how their pods behave by default.
type Options struct {
	// Count is the number of nodes, at most MaxCount; 1 when zero. Nodes of an earlier run beyond it are deleted with their pods.
	Count int
	// StartAfter is how long a pod that was bound takes until its containers start; at once when zero.
	StartAfter time.Duration
	// RunFor is how long containers run that are meant to end; one second when zero.
	RunFor time.Duration
	// OnReady is called once, when these nodes, and no others of an earlier run, are registered, Ready and free of taints. May be nil.
	OnReady func()
	// Logger gets what goes wrong and, from V(1) on, what happens. Silent when zero.
	Logger logr.Logger
}

// Run registers the nodes with the API server of cfg, where it must be allowed everything, and runs them until ctx ends; then, when all of its goroutines have ended, it
// returns nil. It waits for a server that is not serving yet. Nodes stay registered when it ends, so a next Run with the same names takes them over.
func Run(ctx context.Context, cfg *rest.Config, o Options) error {
	if o.Count == 0 {
		o.Count = 1
	}
	if o.Count < 0 || o.Count > MaxCount {
		return fmt.Errorf("%d nodes: at most %d can be simulated", o.Count, MaxCount)
	}
	if o.RunFor == 0 {
		o.RunFor = time.Second
	}
	if o.Logger.GetSink() == nil {
		o.Logger = logr.FromSlogHandler(slog.DiscardHandler) // logr.Discard is taken for "none given" by what it is handed to
	}
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // the API server is in the same process and has its own fair queueing
	cfg.UserAgent = "kubelet/" + kubeletVersion + " (simulated)"
	direct, err := client.New(cfg, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return fmt.Errorf("simulated nodes: %w", err)
	}

	machines := make([]*machine, o.Count)
	byName := make(map[string]*machine, o.Count)
	for i := range machines {
		machines[i] = newMachine(i)
		byName[machines[i].name] = machines[i]
	}

	// Registering does not wait for the controllers and they do not wait for it: the pods that are bound to a node before its controller is there are found in the first list.
	g, running := errgroup.WithContext(ctx)
	g.Go(func() error {
		ctx := running
		if err := register(ctx, direct, machines); err != nil {
			return err
		}
		if err := insist(ctx, func() error { return retire(ctx, direct, byName) }); err != nil {
			return err
		}
		if o.OnReady != nil {
			o.OnReady()
		}
		keepAlive(ctx, direct, machines, o.Logger)
		return nil
	})
	g.Go(func() error {
		return insist(running, func() error { return control(running, cfg, o, byName) })
	})
	if err := g.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("simulated nodes: %w", err)
	}
	return nil
}

// control runs the controllers until the context ends.
func control(ctx context.Context, cfg *rest.Config, o Options, machines map[string]*machine) error {
	mgr, err := manager.New(cfg, manager.Options{
		Scheme:         scheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
		Logger:         o.Logger,
		Metrics:        metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Field: fields.OneTermNotEqualSelector("spec.nodeName", "")},
		}},
	})
	if err != nil {
		return err
	}
	teller := newTeller(mgr.GetClient(), o.Logger)
	if err := mgr.Add(teller); err != nil {
		return err
	}
	if err := addPodController(mgr, o, machines, teller); err != nil {
		return err
	}
	if err := addNodeController(mgr, machines); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// Scheme and mapper hold the handful of kinds that nodes deal with, so that no discovery stands between the first answer of the
// API server and the first node.
var scheme, mapper = kinds()

func kinds() (*runtime.Scheme, meta.RESTMapper) {
	s := runtime.NewScheme()
	utilruntime.Must(corev1.AddToScheme(s))
	utilruntime.Must(coordinationv1.AddToScheme(s))
	utilruntime.Must(certificatesv1.AddToScheme(s))
	m := meta.NewDefaultRESTMapper(nil)
	for kind, scope := range map[string]meta.RESTScope{
		"Node": meta.RESTScopeRoot, "Pod": meta.RESTScopeNamespace, "Event": meta.RESTScopeNamespace,
		"ConfigMap": meta.RESTScopeNamespace, "Secret": meta.RESTScopeNamespace,
	} {
		m.Add(corev1.SchemeGroupVersion.WithKind(kind), scope)
	}
	m.Add(certificatesv1.SchemeGroupVersion.WithKind("ClusterTrustBundle"), meta.RESTScopeRoot)
	m.Add(coordinationv1.SchemeGroupVersion.WithKind("Lease"), meta.RESTScopeNamespace)
	return s, m
}
