package main

import (
	"context"
	"net/http"

	operon "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/reconcile"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
)

// ourObjects is a client of Operon's.
type ourObjects struct{ client client.Client }

func (o ourObjects) get(ctx context.Context, key types.NamespacedName, into object) error {
	return o.client.Get(ctx, key, into)
}

func (o ourObjects) list(ctx context.Context, into objectList, namespace string) error {
	return o.client.List(ctx, into, client.InNamespace(namespace))
}

func (o ourObjects) create(ctx context.Context, obj object) error { return o.client.Create(ctx, obj) }
func (o ourObjects) update(ctx context.Context, obj object) error { return o.client.Update(ctx, obj) }

func (o ourObjects) updateStatus(ctx context.Context, obj object) error {
	return o.client.Status().Update(ctx, obj)
}

func (o ourObjects) patch(ctx context.Context, obj, base object) error {
	return o.client.Patch(ctx, obj, client.MergeFrom(base))
}

func (o ourObjects) apply(ctx context.Context, obj runtime.ApplyConfiguration, owner string) error {
	return o.client.Apply(ctx, obj, client.FieldOwner(owner))
}

// ourOperator implements operatorMaker.
func ourOperator(cfg *rest.Config, spec operatorSpec) (operator, error) {
	options := operon.Options{
		Scheme:  spec.scheme,
		Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{
			SkipNameValidation: ptr.To(true), MaxConcurrentReconciles: spec.workers,
		},
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
	manager, err := operon.NewManager(cfg, options)
	if err != nil {
		return operator{}, err
	}
	o := ourObjects{manager.GetClient()}
	builder := operon.NewControllerManagedBy(manager).For(spec.kind)
	for _, owned := range spec.owns {
		builder = builder.Owns(owned)
	}
	err = builder.Complete(reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		return reconcile.Result{}, spec.reconcile(ctx, o, request.NamespacedName)
	}))
	return operator{objects: o, start: manager.Start}, err
}
