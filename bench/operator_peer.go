package main

import (
	"context"
	"net/http"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	peer "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// peerObjects is a client of controller-runtime's.
type peerObjects struct{ client client.Client }

func (o peerObjects) get(ctx context.Context, key types.NamespacedName, into object) error {
	return o.client.Get(ctx, key, into)
}

func (o peerObjects) list(ctx context.Context, into objectList, namespace string) error {
	return o.client.List(ctx, into, client.InNamespace(namespace))
}

func (o peerObjects) create(ctx context.Context, obj object) error { return o.client.Create(ctx, obj) }
func (o peerObjects) update(ctx context.Context, obj object) error { return o.client.Update(ctx, obj) }

func (o peerObjects) updateStatus(ctx context.Context, obj object) error {
	return o.client.Status().Update(ctx, obj)
}

func (o peerObjects) patch(ctx context.Context, obj, base object) error {
	return o.client.Patch(ctx, obj, client.MergeFrom(base))
}

func (o peerObjects) apply(ctx context.Context, obj runtime.ApplyConfiguration, owner string) error {
	return o.client.Apply(ctx, obj, client.FieldOwner(owner))
}

// peerOperator implements operatorMaker.
func peerOperator(cfg *rest.Config, spec operatorSpec) (operator, error) {
	options := peer.Options{
		Scheme:  spec.scheme,
		Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{
			SkipNameValidation: ptr.To(true), MaxConcurrentReconciles: spec.workers,
		},
	}
	switch spec.variant {
	case plainQueue:
		options.Controller.UsePriorityQueue = ptr.To(false)
	case readYourWrites:
		options.Client.Cache = &client.CacheOptions{EnableReadYourWritesConsistency: ptr.To(true)}
	}
	if spec.mapper != nil {
		options.MapperProvider = func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return spec.mapper, nil }
	}
	if spec.namespace != "" {
		options.Cache.DefaultNamespaces = map[string]cache.Config{spec.namespace: {}}
	}
	if spec.leader != nil {
		options.LeaderElection, options.LeaderElectionReleaseOnCancel = true, true
		options.LeaderElectionID, options.LeaderElectionNamespace = spec.leader.id, "default"
		options.LeaseDuration, options.RenewDeadline, options.RetryPeriod = ptr.To(leaseDuration), ptr.To(renewDeadline), ptr.To(retryPeriod)
		options.Controller.EnableWarmup = &spec.leader.warmup
	}
	manager, err := peer.NewManager(cfg, options)
	if err != nil {
		return operator{}, err
	}
	o := peerObjects{manager.GetClient()}
	builder := peer.NewControllerManagedBy(manager).For(spec.kind)
	for _, owned := range spec.owns {
		builder = builder.Owns(owned)
	}
	err = builder.Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, spec.reconcile(ctx, o, request.NamespacedName)
	}))
	return operator{objects: o, start: manager.Start}, err
}
