package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"

	"github.com/operon-dev/operon/cmd/operon/cluster/pki"
	"github.com/operon-dev/operon/cmd/operon/cluster/synced"
)

const resync = 12 * time.Hour

// Set is the running controllers.
type Set struct {
	env     *environment
	running sync.WaitGroup
}

// environment is what the controllers are built from.
type environment struct {
	config    *rest.Config
	client    kubernetes.Interface
	discovery discovery.DiscoveryInterface
	metadata  metadata.Interface
	mapper    *restmapper.DeferredDiscoveryRESTMapper
	pki       *pki.PKI

	informers         informers.SharedInformerFactory
	metadataInformers metadatainformer.SharedInformerFactory
	// all chooses a typed informer where there is one and a metadata informer elsewhere.
	all     informerfactory.InformerFactory
	started chan struct{}
	graph   *garbagecollector.GraphBuilder
}

// Start builds the controllers and runs them until ctx ends. It returns when the workload controllers have seen the cluster,
// with an error when they cannot; the Set is there then too if something runs that is to be waited for, and nil otherwise.
func Start(ctx context.Context, config *rest.Config, keys *pki.PKI) (*Set, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "kube-controller-manager"
	env, err := newEnvironment(ctx, config, keys)
	if err != nil {
		return nil, err
	}
	s := &Set{env: env}

	var workloads, watchAll []run
	for _, c := range workloadControllers {
		r, err := c.build(ctx, env)
		if err != nil {
			return nil, fmt.Errorf("%s controller: %w", c.name, err)
		}
		workloads = append(workloads, r)
	}
	env.informers.Start(ctx.Done())
	if err := synced.Await(ctx, env.informers, env.client.Discovery()); err != nil {
		return s, fmt.Errorf("controllers: %w", err)
	}
	close(env.started)
	s.run(ctx, workloads)

	for _, c := range resourceControllers {
		r, err := c.build(ctx, env)
		if err != nil {
			return s, fmt.Errorf("%s controller: %w", c.name, err)
		}
		watchAll = append(watchAll, r)
	}
	env.informers.Start(ctx.Done())
	s.run(ctx, watchAll)
	return s, nil
}

func (s *Set) run(ctx context.Context, runs []run) {
	for _, r := range runs {
		s.running.Go(func() { r(ctx) })
	}
}

// Wait blocks until all controllers have ended, which they do after the context given to Start.
func (s *Set) Wait() {
	s.running.Wait()
	s.env.informers.Shutdown()
	s.env.metadataInformers.Shutdown()
}

func newEnvironment(ctx context.Context, config *rest.Config, keys *pki.PKI) (*environment, error) {
	env := &environment{config: config, pki: keys, started: make(chan struct{})}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	env.client, env.discovery, env.metadata = client, client.Discovery(), metadataClient
	env.mapper = restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(env.discovery))
	env.informers = informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithTransform(dropManagedFields))
	env.metadataInformers = metadatainformer.NewSharedInformerFactoryWithOptions(metadataClient, resync, metadatainformer.WithTransform(dropManagedFields))
	env.all = informerfactory.NewInformerFactory(env.informers, env.metadataInformers)
	env.graph = garbagecollector.NewDependencyGraphBuilder(ctx, metadataClient, env.mapper, garbagecollector.DefaultIgnoredResources(), env.all, env.started)
	return env, nil
}

// dropManagedFields spares the memory of what no controller reads.
func dropManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}
