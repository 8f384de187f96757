package controllers

import (
	"context"
	"errors"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/namespace/deletion"
)

const (
	// namespaceGrace is how long after its deletion was seen a namespace is emptied, so that requests which were admitted before have come to
	// their end. kube-controller-manager gives five seconds, for API servers and members of a store that may lag behind each other; here there is one of each.
	namespaceGrace = time.Second
	// Between two looks at a namespace in which something is left, pods that take their time to stop for example. A look is a hundred requests.
	namespaceRetry, namespaceRetryMost = 250 * time.Millisecond, 8 * time.Second

	namespaceWorkers = 10
)

// namespaces empties and ends the namespaces that are deleted. What is done to one is Kubernetes' own code; the pace is ours, because
// kube-controller-manager's makes every deletion take five seconds, and twice that where there are pods.
func namespaces(ctx context.Context, env *environment) (run, error) {
	informer := env.informers.Core().V1().Namespaces()
	n := &namespaceEnder{
		lister: informer.Lister(),
		deleter: deletion.NewNamespacedResourcesDeleter(ctx, env.client.CoreV1().Namespaces(), env.metadata, env.client.CoreV1(),
			env.discovery.ServerPreferredNamespacedResources, corev1.FinalizerKubernetes),
		queue: workqueue.NewTypedRateLimitingQueueWithConfig(
			workqueue.NewTypedItemExponentialFailureRateLimiter[string](namespaceRetry, namespaceRetryMost),
			workqueue.TypedRateLimitingQueueConfig[string]{Name: "namespace"}),
	}
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    n.enqueue,
		UpdateFunc: func(_, obj any) { n.enqueue(obj) },
	})
	return n.run, err
}

type namespaceEnder struct {
	lister  corelisters.NamespaceLister
	deleter deletion.NamespacedResourcesDeleterInterface
	queue   workqueue.TypedRateLimitingInterface[string]
}

func (n *namespaceEnder) enqueue(obj any) {
	if ns, ok := obj.(*corev1.Namespace); ok && ns.DeletionTimestamp != nil && n.queue.NumRequeues(ns.Name) == 0 {
		n.queue.AddAfter(ns.Name, namespaceGrace)
	}
}

func (n *namespaceEnder) run(ctx context.Context) {
	var workers sync.WaitGroup
	for range namespaceWorkers {
		workers.Go(func() {
			for n.next(ctx) {
			}
		})
	}
	<-ctx.Done()
	n.queue.ShutDown()
	workers.Wait()
}

// next ends one namespace, or comes back to it later. It says whether there may be more.
func (n *namespaceEnder) next(ctx context.Context) bool {
	name, quit := n.queue.Get()
	if quit {
		return false
	}
	defer n.queue.Done(name)
	if _, err := n.lister.Get(name); err != nil {
		n.queue.Forget(name)
		return true
	}
	err := n.deleter.Delete(ctx, name)
	if err == nil {
		n.queue.Forget(name)
		return true
	}
	var remaining *deletion.ResourcesRemainingError
	if !errors.As(err, &remaining) && ctx.Err() == nil {
		klog.FromContext(ctx).Error(err, "namespace not emptied", "namespace", name)
	}
	n.queue.AddRateLimited(name)
	return true
}
