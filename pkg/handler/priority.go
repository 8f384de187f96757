package handler

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/event"
)

// LowPriority is the priority of requests for objects that nothing has happened to.
const LowPriority = -100

// WithLowPriorityWhenUnchanged returns a handler like u, except that what u adds for an object that was there
// when the watch began, or for an update that changed nothing, has LowPriority unless u says otherwise. It
// makes no difference with a queue that has no priorities. The handlers of this package are like that
// already.
func WithLowPriorityWhenUnchanged[object client.Object, request comparable](u TypedEventHandler[object, request]) TypedEventHandler[object, request] {
	return lowWhenUnchanged[object, request]{u}
}

type lowWhenUnchanged[object client.Object, request comparable] struct {
	TypedEventHandler[object, request]
}

func (h lowWhenUnchanged[object, request]) Create(ctx context.Context, e event.TypedCreateEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	h.TypedEventHandler.Create(ctx, e, forCreate(e, q))
}

func (h lowWhenUnchanged[object, request]) Update(ctx context.Context, e event.TypedUpdateEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	h.TypedEventHandler.Update(ctx, e, forUpdate(e, q))
}

// forCreate returns the queue to which the requests for e are to be added.
func forCreate[object any, request comparable](e event.TypedCreateEvent[object], q workqueue.TypedRateLimitingInterface[request]) workqueue.TypedRateLimitingInterface[request] {
	if e.IsInInitialList {
		return lowered(q)
	}
	return q
}

// forUpdate returns the queue to which the requests for e are to be added.
func forUpdate[object any, request comparable](e event.TypedUpdateEvent[object], q workqueue.TypedRateLimitingInterface[request]) workqueue.TypedRateLimitingInterface[request] {
	if before, after := asObject(e.ObjectOld), asObject(e.ObjectNew); before != nil && after != nil &&
		before.GetResourceVersion() == after.GetResourceVersion() {
		return lowered(q)
	}
	return q
}

func lowered[request comparable](q workqueue.TypedRateLimitingInterface[request]) workqueue.TypedRateLimitingInterface[request] {
	if pq, ok := q.(priorityqueue.PriorityQueue[request]); ok {
		return lowQueue[request]{pq}
	}
	return q
}

var low = LowPriority

// lowQueue adds with LowPriority what is added without a priority.
type lowQueue[request comparable] struct {
	priorityqueue.PriorityQueue[request]
}

func (q lowQueue[request]) Add(item request) {
	q.AddWithOpts(priorityqueue.AddOpts{}, item)
}

func (q lowQueue[request]) AddAfter(item request, d time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: d}, item)
}

func (q lowQueue[request]) AddRateLimited(item request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

func (q lowQueue[request]) AddWithOpts(o priorityqueue.AddOpts, items ...request) {
	if o.Priority == nil {
		o.Priority = &low
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}
