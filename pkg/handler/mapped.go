package handler

import (
	"context"
	"slices"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// MapFunc says what is to be reconciled because of an event of an object.
type MapFunc = TypedMapFunc[client.Object, reconcile.Request]

// TypedMapFunc says what is to be reconciled because of an event of an object.
type TypedMapFunc[object any, request comparable] func(context.Context, object) []request

// EnqueueRequestsFromMapFunc returns a handler that asks for what fn says. Because of an update it asks for
// what fn says of the state before and of the state after.
func EnqueueRequestsFromMapFunc(fn MapFunc) EventHandler {
	return TypedEnqueueRequestsFromMapFunc(fn)
}

// TypedEnqueueRequestsFromMapFunc returns a handler that asks for what fn says. Because of an update it asks
// for what fn says of the state before and of the state after.
func TypedEnqueueRequestsFromMapFunc[object any, request comparable](fn TypedMapFunc[object, request]) TypedEventHandler[object, request] {
	return mapped[object, request]{fn}
}

// mapped asks for what its function says of an event's objects, for each request once an event.
type mapped[object any, request comparable] struct {
	requests TypedMapFunc[object, request]
}

func (m mapped[object, request]) Create(ctx context.Context, e event.TypedCreateEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	addEach(forCreate(e, q), m.requests(ctx, e.Object), nil)
}

func (m mapped[object, request]) Update(ctx context.Context, e event.TypedUpdateEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	q = forUpdate(e, q)
	before := m.requests(ctx, e.ObjectOld)
	addEach(q, before, nil)
	addEach(q, m.requests(ctx, e.ObjectNew), before)
}

func (m mapped[object, request]) Delete(ctx context.Context, e event.TypedDeleteEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	addEach(q, m.requests(ctx, e.Object), nil)
}

func (m mapped[object, request]) Generic(ctx context.Context, e event.TypedGenericEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	addEach(q, m.requests(ctx, e.Object), nil)
}

// fewRequests is up to how many requests looking through them all costs less than a set.
const fewRequests = 16

// addEach adds each request once, and none of those that were added before.
func addEach[request comparable](q workqueue.TypedRateLimitingInterface[request], requests, before []request) {
	if len(requests)+len(before) <= fewRequests {
		for i, r := range requests {
			if !slices.Contains(requests[:i], r) && !slices.Contains(before, r) {
				q.Add(r)
			}
		}
		return
	}
	added := make(map[request]struct{}, len(requests)+len(before))
	for _, r := range before {
		added[r] = struct{}{}
	}
	for _, r := range requests {
		if _, ok := added[r]; !ok {
			added[r] = struct{}{}
			q.Add(r)
		}
	}
}
