package controllers

import (
	"context"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apiextensions-apiserver/pkg/client/informers/externalversions"
	"k8s.io/apiserver/pkg/quota/v1/generic"
	"k8s.io/client-go/tools/cache"
	kubecontroller "k8s.io/kubernetes/pkg/controller"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
	"k8s.io/kubernetes/pkg/controller/resourcequota"
	quotainstall "k8s.io/kubernetes/pkg/quota/v1/install"
)

const discoveryPeriod = 30 * time.Second

// garbageCollection deletes what has lost its owners. It learns of new resources from discovery, every thirty seconds and whenever
// a CustomResourceDefinition is established or gone.
func garbageCollection(ctx context.Context, env *environment) (run, error) {
	c, err := garbagecollector.NewComposedGarbageCollector(ctx, env.client, env.metadata, env.mapper, env.graph)
	if err != nil {
		return nil, err
	}
	crds, err := newCRDWatch(env)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { c.Run(ctx, 20, discoveryPeriod) })
		wg.Go(func() { crds.run(ctx) })
		for ctx.Err() == nil {
			// A round of Sync that is begun anew looks at discovery at once and keeps the watches that it finds.
			round, cancel := context.WithCancel(ctx)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				c.Sync(round, env.discovery, discoveryPeriod)
			}()
			select {
			case <-ctx.Done():
			case <-crds.changed:
				crds.settle(ctx, env)
			}
			cancel()
			<-ended
		}
	}, nil
}

func resourceQuotas(ctx context.Context, env *environment) (run, error) {
	quota, err := quotainstall.NewQuotaConfigurationForControllers(generic.ListerFuncForResourceFunc(env.informers.ForResource), env.informers)
	if err != nil {
		return nil, err
	}
	discover := env.discovery.ServerPreferredNamespacedResources
	c, err := resourcequota.NewController(ctx, &resourcequota.ControllerOptions{
		QuotaClient:               env.client.CoreV1(),
		ResourceQuotaInformer:     env.informers.Core().V1().ResourceQuotas(),
		ResyncPeriod:              kubecontroller.StaticResyncPeriodFunc(5 * time.Minute),
		InformerFactory:           env.all,
		ReplenishmentResyncPeriod: kubecontroller.StaticResyncPeriodFunc(resync),
		DiscoveryFunc:             discover,
		IgnoredResourcesFunc:      quota.IgnoredResources,
		InformersStarted:          env.started,
		Registry:                  generic.NewRegistry(quota.Evaluators()),
		UpdateFilter:              quotainstall.DefaultUpdateFilter(),
	})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) {
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() { c.Run(ctx, 5) })
		c.Sync(ctx, discover, discoveryPeriod)
	}, nil
}

// crdWatch tells when the set of custom resources that the server serves has changed.
type crdWatch struct {
	factory externalversions.SharedInformerFactory
	changed chan struct{}

	mu      sync.Mutex
	pending []*apiextensionsv1.CustomResourceDefinition
}

func newCRDWatch(env *environment) (*crdWatch, error) {
	client, err := clientset.NewForConfig(env.config)
	if err != nil {
		return nil, err
	}
	w := &crdWatch{
		factory: externalversions.NewSharedInformerFactoryWithOptions(client, 0, externalversions.WithTransform(dropSchemas)),
		changed: make(chan struct{}, 1),
	}
	_, err = w.factory.Apiextensions().V1().CustomResourceDefinitions().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { w.observe(nil, obj) },
		UpdateFunc: func(old, obj any) {
			w.observe(old, obj)
		},
		DeleteFunc: func(any) { w.notify() },
	})
	return w, err
}

func (w *crdWatch) run(ctx context.Context) {
	w.factory.Start(ctx.Done())
	<-ctx.Done()
	w.factory.Shutdown()
}

func (w *crdWatch) observe(old, obj any) {
	before, _ := old.(*apiextensionsv1.CustomResourceDefinition)
	crd := obj.(*apiextensionsv1.CustomResourceDefinition)
	if !established(crd) || before != nil && established(before) && before.Generation == crd.Generation {
		return
	}
	w.mu.Lock()
	w.pending = append(w.pending, crd)
	w.mu.Unlock()
	w.notify()
}

func (w *crdWatch) notify() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// settle waits until discovery shows what the pending definitions declare. Discovery has no watch, so it is asked.
func (w *crdWatch) settle(ctx context.Context, env *environment) {
	w.mu.Lock()
	pending := w.pending
	w.pending = nil
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, discoveryPeriod)
	defer cancel()
	for _, crd := range pending {
		for !discovered(env, crd) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
}

func discovered(env *environment, crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, version := range crd.Spec.Versions {
		if !version.Served {
			continue
		}
		list, err := env.discovery.ServerResourcesForGroupVersion(crd.Spec.Group + "/" + version.Name)
		if err != nil {
			return false
		}
		found := false
		for _, r := range list.APIResources {
			found = found || r.Name == crd.Spec.Names.Plural
		}
		if !found {
			return false
		}
	}
	return true
}

func established(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for _, c := range crd.Status.Conditions {
		if c.Type == apiextensionsv1.Established {
			return c.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// dropSchemas keeps of a definition what crdWatch reads.
func dropSchemas(obj any) (any, error) {
	if crd, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		crd.ManagedFields = nil
		for i := range crd.Spec.Versions {
			crd.Spec.Versions[i].Schema = nil
		}
	}
	return obj, nil
}
