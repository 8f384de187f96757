package controllers

import (
	"context"
	"time"

	"k8s.io/kubernetes/pkg/controller/nodelifecycle"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
)

func nodeLifecycle(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c, err := nodelifecycle.NewNodeLifecycleController(ctx, env.informers.Coordination().V1().Leases(), core.Pods(), core.Nodes(),
		env.informers.Apps().V1().DaemonSets(), env.client,
		5*time.Second, time.Minute, 50*time.Second, 0.1, 0.01, 50, 0.55)
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

func taintEviction(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c, err := tainteviction.New(ctx, env.client, core.Pods(), core.Nodes(), "taint-eviction-controller")
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}
