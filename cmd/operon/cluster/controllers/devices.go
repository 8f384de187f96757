package controllers

import (
	"context"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/resourceclaim"
)

// deviceClaims makes the claims of pods that name a ResourceClaimTemplate, and gives devices back when their pods have ended.
func deviceClaims(ctx context.Context, env *environment) (run, error) {
	resource := env.informers.Resource().V1()
	c, err := resourceclaim.NewController(klog.FromContext(ctx), env.client, env.informers.Core().V1().Pods(), env.informers.Scheduling().V1beta1().PodGroups(),
		resource.ResourceClaims(), resource.ResourceClaimTemplates())
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 10) }, nil
}
