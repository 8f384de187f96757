package handler

import (
	"context"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/event"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// EventHandler asks for reconciliations of objects because of events of any object.
type EventHandler = TypedEventHandler[client.Object, reconcile.Request]

// TypedEventHandler asks for reconciliations because of events: it adds requests to the queue that it is called with.
//
// ctx ends when the source stops. The queue may be kept and added to later.
type TypedEventHandler[object any, request comparable] interface {
	Create(context.Context, event.TypedCreateEvent[object], workqueue.TypedRateLimitingInterface[request])
	Update(context.Context, event.TypedUpdateEvent[object], workqueue.TypedRateLimitingInterface[request])
	Delete(context.Context, event.TypedDeleteEvent[object], workqueue.TypedRateLimitingInterface[request])
	Generic(context.Context, event.TypedGenericEvent[object], workqueue.TypedRateLimitingInterface[request])
}

// Funcs is an EventHandler made of functions.
type Funcs = TypedFuncs[client.Object, reconcile.Request]

// TypedFuncs is a handler made of functions. A nil function ignores its events.
//
// What CreateFunc adds for an object that was there when the watch began, and UpdateFunc for an update that
// changed nothing, has LowPriority unless they say otherwise.
type TypedFuncs[object any, request comparable] struct {
	CreateFunc  func(context.Context, event.TypedCreateEvent[object], workqueue.TypedRateLimitingInterface[request])
	UpdateFunc  func(context.Context, event.TypedUpdateEvent[object], workqueue.TypedRateLimitingInterface[request])
	DeleteFunc  func(context.Context, event.TypedDeleteEvent[object], workqueue.TypedRateLimitingInterface[request])
	GenericFunc func(context.Context, event.TypedGenericEvent[object], workqueue.TypedRateLimitingInterface[request])
}

// Create calls CreateFunc.
func (h TypedFuncs[object, request]) Create(ctx context.Context, e event.TypedCreateEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	if h.CreateFunc != nil {
		h.CreateFunc(ctx, e, forCreate(e, q))
	}
}

// Update calls UpdateFunc.
func (h TypedFuncs[object, request]) Update(ctx context.Context, e event.TypedUpdateEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	if h.UpdateFunc != nil {
		h.UpdateFunc(ctx, e, forUpdate(e, q))
	}
}

// Delete calls DeleteFunc.
func (h TypedFuncs[object, request]) Delete(ctx context.Context, e event.TypedDeleteEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	if h.DeleteFunc != nil {
		h.DeleteFunc(ctx, e, q)
	}
}

// Generic calls GenericFunc.
func (h TypedFuncs[object, request]) Generic(ctx context.Context, e event.TypedGenericEvent[object], q workqueue.TypedRateLimitingInterface[request]) {
	if h.GenericFunc != nil {
		h.GenericFunc(ctx, e, q)
	}
}

var _ EventHandler = Funcs{}
