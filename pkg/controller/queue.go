package controller

import (
	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/metrics"
	"github.com/operon-dev/operon/pkg/reconcile"
)

func newPriorityQueue[request comparable](logger logr.Logger) func(string, workqueue.TypedRateLimiter[request]) workqueue.TypedRateLimitingInterface[request] {
	return func(name string, limiter workqueue.TypedRateLimiter[request]) workqueue.TypedRateLimitingInterface[request] {
		return priorityqueue.New(name, func(o *priorityqueue.Opts[request]) {
			o.Log = logger
			o.RateLimiter = limiter
		})
	}
}

func newPlainQueue[request comparable](name string, limiter workqueue.TypedRateLimiter[request]) workqueue.TypedRateLimitingInterface[request] {
	return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, workqueue.TypedRateLimitingQueueConfig[request]{
		Name:            name,
		MetricsProvider: priorityqueue.NewMetricsProvider(metrics.Registry),
	})
}

// workQueue is what a worker needs of a queue.
type workQueue[request comparable] interface {
	GetWithOrigin() (item request, origin priorityqueue.Origin, shutdown bool)
	AddBecause(why *reconcile.Trigger, o priorityqueue.AddOpts, item request)
	Forget(item request)
	Done(item request)
}

// untracedQueue lets workers use a queue that has priorities and knows no triggers.
type untracedQueue[request comparable] struct {
	priorityqueue.PriorityQueue[request]
}

func (q untracedQueue[request]) GetWithOrigin() (item request, origin priorityqueue.Origin, shutdown bool) {
	item, origin.Priority, shutdown = q.GetWithPriority()
	return item, origin, shutdown
}

func (q untracedQueue[request]) AddBecause(_ *reconcile.Trigger, o priorityqueue.AddOpts, item request) {
	q.AddWithOpts(o, item)
}

// flatQueue lets workers use a queue that has no priorities.
type flatQueue[request comparable] struct {
	workqueue.TypedRateLimitingInterface[request]
}

func (q flatQueue[request]) GetWithOrigin() (item request, _ priorityqueue.Origin, shutdown bool) {
	item, shutdown = q.Get()
	return item, priorityqueue.Origin{}, shutdown
}

func (q flatQueue[request]) AddBecause(_ *reconcile.Trigger, o priorityqueue.AddOpts, item request) {
	if o.RateLimited {
		q.AddRateLimited(item)
		return
	}
	q.AddAfter(item, o.After)
}

// queueForWorkers is a queue as workers use it, with as much of priorities and triggers as it has.
func queueForWorkers[request comparable](q workqueue.TypedRateLimitingInterface[request]) workQueue[request] {
	if knowing, ok := q.(priorityqueue.Tracing[request]); ok {
		return knowing
	}
	if pq, ok := q.(priorityqueue.PriorityQueue[request]); ok {
		return untracedQueue[request]{pq}
	}
	return flatQueue[request]{q}
}
