package controllers

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/endpointslicemirroring"
	"k8s.io/kubernetes/pkg/controller/servicecidrs"
)

func endpoints(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), env.client, 0)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func endpointSlices(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(), env.informers.Discovery().V1().EndpointSlices(), 100, env.client, 0)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func endpointSliceMirroring(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c := endpointslicemirroring.NewController(ctx, core.Endpoints(), env.informers.Discovery().V1().EndpointSlices(), core.Services(), 1000, env.client, 0)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func serviceCIDRs(ctx context.Context, env *environment) (run, error) {
	networking := env.informers.Networking().V1()
	c := servicecidrs.NewController(ctx, networking.ServiceCIDRs(), networking.IPAddresses(), env.client)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}
