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
	h.TypedEventHandler.Create(ctx, e, withPriority(q, ifUnchanged(e.IsInInitialList)))
}

func (h lowWhenUnchanged[object, request]) Update(ctx context.Context, e event.TypedUpdateEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	h.TypedEventHandler.Update(ctx, e, withPriority(q, ifUnchanged(sameVersion(e))))
}

// ifUnchanged returns the priority of requests whose event is about a change or not: nil means the queue's own.
func ifUnchanged(unchanged bool) *int {
	if unchanged {
		return &low
	}
	return nil
}

// forCreate returns the queue to which the requests for e are to be added.
func forCreate[object any, request comparable](e event.TypedCreateEvent[object], q workqueue.TypedRateLimitingInterface[request]) workqueue.TypedRateLimitingInterface[request] {
	return withPriority(q, ifUnchanged(e.IsInInitialList))
}

// forUpdate returns the queue to which the requests for e are to be added.
func forUpdate[object any, request comparable](e event.TypedUpdateEvent[object], q workqueue.TypedRateLimitingInterface[request]) workqueue.TypedRateLimitingInterface[request] {
	return withPriority(q, ifUnchanged(sameVersion(e)))
}

// sameVersion says whether nothing has happened to the object of an update.
func sameVersion[object any](e event.TypedUpdateEvent[object]) bool {
	before, after := asObject(e.ObjectOld), asObject(e.ObjectNew)
	return before != nil && after != nil && before.GetResourceVersion() == after.GetResourceVersion()
}

// withPriority returns a queue that adds to q, with the priority, what is added without one.
func withPriority[request comparable](q workqueue.TypedRateLimitingInterface[request], priority *int) workqueue.TypedRateLimitingInterface[request] {
	if pq, ok := q.(priorityqueue.PriorityQueue[request]); ok {
		return prioritized[request]{pq, priority}
	}
	return q
}

var low = LowPriority

// prioritized adds with a priority what is added without one. Whatever is called, it is AddWithOpts of the queue behind that
// is called, so that who stands in for a queue has one method to write.
type prioritized[request comparable] struct {
	priorityqueue.PriorityQueue[request]
	priority *int
}

func (q prioritized[request]) Add(item request) {
	q.AddWithOpts(priorityqueue.AddOpts{}, item)
}

func (q prioritized[request]) AddAfter(item request, d time.Duration) {
	q.AddWithOpts(priorityqueue.AddOpts{After: d}, item)
}

func (q prioritized[request]) AddRateLimited(item request) {
	q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true}, item)
}

func (q prioritized[request]) AddWithOpts(o priorityqueue.AddOpts, items ...request) {
	if o.Priority == nil {
		o.Priority = q.priority
	}
	q.PriorityQueue.AddWithOpts(o, items...)
}
