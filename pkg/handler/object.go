package handler

import (
	"context"
	"reflect"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// EnqueueRequestForObject asks for the object that the event is about.
type EnqueueRequestForObject = TypedEnqueueRequestForObject[client.Object]

// TypedEnqueueRequestForObject asks for the object that the event is about.
type TypedEnqueueRequestForObject[object client.Object] struct{}

// Create asks for the created object.
func (e *TypedEnqueueRequestForObject[T]) Create(ctx context.Context, evt event.TypedCreateEvent[T], q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	enqueue(ctx, evt.Object, forCreate(evt, q))
}

// Update asks for the updated object.
func (e *TypedEnqueueRequestForObject[T]) Update(ctx context.Context, evt event.TypedUpdateEvent[T], q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	o := evt.ObjectNew
	if asObject(o) == nil {
		o = evt.ObjectOld
	}
	enqueue(ctx, o, forUpdate(evt, q))
}

// Delete asks for the deleted object.
func (e *TypedEnqueueRequestForObject[T]) Delete(ctx context.Context, evt event.TypedDeleteEvent[T], q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	enqueue(ctx, evt.Object, q)
}

// Generic asks for the object that the event is about.
func (e *TypedEnqueueRequestForObject[T]) Generic(ctx context.Context, evt event.TypedGenericEvent[T], q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	enqueue(ctx, evt.Object, q)
}

var _ EventHandler = &EnqueueRequestForObject{}

func enqueue[T client.Object](ctx context.Context, o T, q workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if asObject(o) == nil {
		log.FromContext(ctx).Error(nil, "Event without an object is ignored")
		return
	}
	q.Add(requestFor(o))
}

func requestFor(o client.Object) reconcile.Request {
	return reconcile.Request{NamespacedName: client.ObjectKeyFromObject(o)}
}

// asObject returns o as a Kubernetes object, or nil if it is none: sources may deal in other things, and in
// nil pointers.
func asObject[T any](o T) client.Object {
	obj, ok := any(o).(client.Object)
	if !ok {
		return nil
	}
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return obj
}
