package scheduler

import (
	"context"
	"fmt"
	"sync"

	"github.com/operon-dev/operon/cmd/operon/cluster/synced"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

// Start runs the scheduler until ctx ends, and returns as soon as it takes pods. Wait blocks until it has ended; it is there with an error too, if
// something runs already, and nil otherwise.
func Start(ctx context.Context, cfg *rest.Config) (wait func(), err error) {
	cfg = rest.CopyConfig(cfg)
	cfg.UserAgent = "kube-scheduler"
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, err
	}
	defaults, err := latest.Default()
	if err != nil {
		return nil, err
	}
	dynamicConfig := rest.CopyConfig(cfg)
	dynamicConfig.ContentType = ""
	dynamicClient, err := dynamic.NewForConfig(dynamicConfig)
	if err != nil {
		return nil, err
	}
	informers := scheduler.NewInformerFactory(client, 0, nil)
	dynamicInformers := dynamicinformer.NewFilteredDynamicSharedInformerFactory(dynamicClient, 0, "", nil)
	broadcaster := events.NewEventBroadcasterAdapterWithContext(ctx, client)

	sched, err := scheduler.New(ctx, client, informers, dynamicInformers,
		profile.RecorderFactory(func(name string) events.EventRecorderLogger { return broadcaster.NewRecorder(name) }),
		scheduler.WithComponentConfigVersion(defaults.APIVersion),
		scheduler.WithKubeConfig(cfg),
		scheduler.WithProfiles(defaults.Profiles...),
		scheduler.WithPercentageOfNodesToScore(defaults.PercentageOfNodesToScore),
		scheduler.WithPodInitialBackoffSeconds(defaults.PodInitialBackoffSeconds),
		scheduler.WithPodMaxBackoffSeconds(defaults.PodMaxBackoffSeconds),
		scheduler.WithParallelism(defaults.Parallelism),
	)
	if err != nil {
		return nil, fmt.Errorf("scheduler: %w", err)
	}
	broadcaster.StartRecordingToSink(ctx.Done())
	informers.Start(ctx.Done())
	dynamicInformers.Start(ctx.Done())
	var running sync.WaitGroup
	wait = func() {
		running.Wait()
		informers.Shutdown()
		dynamicInformers.Shutdown()
	}
	if err := synced.Await(ctx, informers, client.Discovery()); err != nil {
		return wait, fmt.Errorf("scheduler: %w", err)
	}
	dynamicInformers.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return wait, fmt.Errorf("scheduler: %w", err)
	}
	running.Go(func() {
		defer broadcaster.Shutdown()
		sched.Run(ctx)
	})
	return wait, nil
}
