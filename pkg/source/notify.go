package source

import (
	"context"
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/predicate"
)

// notify returns what is added to an informer so that its notifications reach h, as events of typed objects,
// if all predicates let them pass. They happen in ctx.
func notify[object any, request comparable](
	ctx context.Context,
	queue workqueue.TypedRateLimitingInterface[request],
	h handler.TypedEventHandler[object, request],
	predicates []predicate.TypedPredicate[object],
) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			o, ok := typed[object](ctx, obj)
			if !ok {
				return
			}
			e := event.TypedCreateEvent[object]{Object: o, IsInInitialList: isInInitialList}
			for _, p := range predicates {
				if !p.Create(e) {
					return
				}
			}
			h.Create(ctx, e, queue)
		},
		UpdateFunc: func(before, after any) {
			was, ok := typed[object](ctx, before)
			if !ok {
				return
			}
			is, ok := typed[object](ctx, after)
			if !ok {
				return
			}
			e := event.TypedUpdateEvent[object]{ObjectOld: was, ObjectNew: is}
			for _, p := range predicates {
				if !p.Update(e) {
					return
				}
			}
			h.Update(ctx, e, queue)
		},
		DeleteFunc: func(obj any) {
			last, unknown := lastState(obj)
			o, ok := typed[object](ctx, last)
			if !ok {
				return
			}
			e := event.TypedDeleteEvent[object]{Object: o, DeleteStateUnknown: unknown}
			for _, p := range predicates {
				if !p.Delete(e) {
					return
				}
			}
			h.Delete(ctx, e, queue)
		},
	}
}

// lastState returns the object of a deletion's notification, and whether it may be older than the state in
// which the object was deleted.
func lastState(obj any) (last any, unknown bool) {
	switch tombstone := obj.(type) {
	case toolscache.DeletedFinalStateUnknown:
		return tombstone.Obj, true
	case *toolscache.DeletedFinalStateUnknown:
		return tombstone.Obj, true
	}
	return obj, false
}

func typed[object any](ctx context.Context, obj any) (o object, ok bool) {
	if o, ok = obj.(object); !ok {
		log.FromContext(ctx).Error(nil, "Notification about an object of an unexpected type is ignored",
			"type", fmt.Sprintf("%T", obj), "expected", fmt.Sprintf("%T", o))
	}
	return o, ok
}
