package controllers

import (
	"context"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/daemon"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/disruption"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/podautoscaler"
	"k8s.io/kubernetes/pkg/controller/podautoscaler/metrics"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/replication"
	"k8s.io/kubernetes/pkg/controller/statefulset"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	resourceclient "k8s.io/metrics/pkg/client/clientset/versioned/typed/metrics/v1beta1"
	"k8s.io/metrics/pkg/client/custom_metrics"
	"k8s.io/metrics/pkg/client/external_metrics"
)

func deployments(ctx context.Context, env *environment) (run, error) {
	apps := env.informers.Apps().V1()
	c, err := deployment.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(), env.informers.Core().V1().Pods(), env.client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func replicaSets(ctx context.Context, env *environment) (run, error) {
	c := replicaset.NewReplicaSetController(ctx, env.informers.Apps().V1().ReplicaSets(), env.informers.Core().V1().Pods(), env.client, replicaset.BurstReplicas)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func replicationControllers(ctx context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	c := replication.NewReplicationManager(ctx, core.Pods(), core.ReplicationControllers(), env.client, replication.BurstReplicas)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func statefulSets(ctx context.Context, env *environment) (run, error) {
	core, apps := env.informers.Core().V1(), env.informers.Apps().V1()
	c := statefulset.NewStatefulSetController(ctx, core.Pods(), apps.StatefulSets(), core.PersistentVolumeClaims(), apps.ControllerRevisions(), env.client)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func daemonSets(ctx context.Context, env *environment) (run, error) {
	core, apps := env.informers.Core().V1(), env.informers.Apps().V1()
	c, err := daemon.NewDaemonSetsController(ctx, apps.DaemonSets(), apps.ControllerRevisions(), core.Pods(), core.Nodes(), env.client,
		flowcontrol.NewBackOff(time.Second, 15*time.Minute))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 2) }, nil
}

func jobs(ctx context.Context, env *environment) (run, error) {
	// Workloads and pod groups of jobs are an alpha feature.
	c, err := job.NewController(ctx, env.client, env.informers.Core().V1().Pods(), env.informers.Batch().V1().Jobs(), nil, nil)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func cronJobs(ctx context.Context, env *environment) (run, error) {
	batch := env.informers.Batch().V1()
	c, err := cronjob.NewControllerV2(ctx, batch.Jobs(), batch.CronJobs(), env.client)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func ttlAfterFinished(ctx context.Context, env *environment) (run, error) {
	c := ttlafterfinished.New(ctx, env.informers.Batch().V1().Jobs(), env.client)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func disruptionBudgets(ctx context.Context, env *environment) (run, error) {
	scales, err := scaleClient(env)
	if err != nil {
		return nil, err
	}
	core, apps := env.informers.Core().V1(), env.informers.Apps().V1()
	c := disruption.NewDisruptionController(ctx, core.Pods(), env.informers.Policy().V1().PodDisruptionBudgets(), core.ReplicationControllers(),
		apps.ReplicaSets(), apps.Deployments(), apps.StatefulSets(), env.client, env.mapper, scales, env.discovery)
	return func(ctx context.Context) { c.Run(ctx, 5) }, nil
}

func podAutoscalers(ctx context.Context, env *environment) (run, error) {
	const sync = 15 * time.Second
	scales, err := scaleClient(env)
	if err != nil {
		return nil, err
	}
	resources, err := resourceclient.NewForConfig(env.config)
	if err != nil {
		return nil, err
	}
	external, err := external_metrics.NewForConfig(env.config)
	if err != nil {
		return nil, err
	}
	versions := custom_metrics.NewAvailableAPIsGetter(env.discovery)
	c := podautoscaler.NewHorizontalController(ctx, env.client.CoreV1(), scales, env.client.AutoscalingV2(), env.mapper,
		metrics.NewRESTMetricsClient(resources, custom_metrics.NewForConfig(env.config, env.mapper, versions), external),
		env.informers.Autoscaling().V2().HorizontalPodAutoscalers(), env.informers.Core().V1().Pods(),
		sync, 5*time.Minute, 0.1, 5*time.Minute, 30*time.Second)
	return func(ctx context.Context) {
		go custom_metrics.PeriodicallyInvalidate(versions, sync, ctx.Done())
		c.Run(ctx, 5)
	}, nil
}

func scaleClient(env *environment) (scale.ScalesGetter, error) {
	return scale.NewForConfig(env.config, env.mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(env.discovery))
}
