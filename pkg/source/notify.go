package source

import (
	"context"
	"fmt"
	"reflect"

	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/handler"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/predicate"
	"github.com/operon-dev/operon/pkg/reconcile"
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
			cause := reconcile.CauseCreate
			if isInInitialList {
				cause = reconcile.CauseInitialList
			}
			if all(predicates, func(p predicate.TypedPredicate[object]) bool { return p.Create(e) }) {
				h.Create(ctx, e, because(queue, cause, o))
			}
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
			cause := reconcile.CauseUpdate
			if same(was, is) {
				cause = reconcile.CauseResync
			}
			if all(predicates, func(p predicate.TypedPredicate[object]) bool { return p.Update(e) }) {
				h.Update(ctx, e, because(queue, cause, is))
			}
		},
		DeleteFunc: func(obj any) {
			last, unknown := lastState(obj)
			o, ok := typed[object](ctx, last)
			if !ok {
				return
			}
			e := event.TypedDeleteEvent[object]{Object: o, DeleteStateUnknown: unknown}
			if all(predicates, func(p predicate.TypedPredicate[object]) bool { return p.Delete(e) }) {
				h.Delete(ctx, e, because(queue, reconcile.CauseDelete, o))
			}
		},
	}
}

// all says whether each predicate lets something pass.
func all[object any](predicates []predicate.TypedPredicate[object], admits func(predicate.TypedPredicate[object]) bool) bool {
	for _, p := range predicates {
		if !admits(p) {
			return false
		}
	}
	return true
}

// because returns queue for what is added to it on account of o.
func because[request comparable](queue workqueue.TypedRateLimitingInterface[request], cause reconcile.Cause, o any) workqueue.TypedRateLimitingInterface[request] {
	why := reconcile.Trigger{Cause: cause}
	if obj, ok := o.(client.Object); ok && !isNil(o) {
		why.Kind, why.Object = kindOf(obj), client.ObjectKeyFromObject(obj)
	}
	return priorityqueue.Because(queue, why)
}

// kindOf is the kind that obj says it is of, or else the name of its Go type, which is the same for Kubernetes' types.
func kindOf(obj client.Object) string {
	if kind := obj.GetObjectKind().GroupVersionKind().Kind; kind != "" {
		return kind
	}
	t := reflect.TypeOf(obj)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Name()
}

// same says whether two states are of one version.
func same(before, after any) bool {
	was, ok := before.(client.Object)
	if !ok || isNil(before) {
		return false
	}
	is, ok := after.(client.Object)
	return ok && !isNil(after) && was.GetResourceVersion() == is.GetResourceVersion()
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
