package reconcile

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Request names the object to reconcile. It is the key by which a controller's queue knows duplicates.
type Request struct {
	types.NamespacedName
}

// Result is how a reconciliation ended, where it ended without an error. The zero value means: done, until
// something happens.
type Result struct {
	// Requeue asks for another call after a delay that grows with every further time, as after an error.
	//
	// Deprecated: Use RequeueAfter. A delay that the rate limiter makes up for errors says nothing about when
	// it is worth looking again.
	Requeue bool

	// RequeueAfter, if it is greater than zero, asks for another call after this time, and makes the rate
	// limiter forget earlier failures. An event that comes in the meantime leads to a call as always.
	RequeueAfter time.Duration

	// Priority is the priority with which the request is queued again, after an error, too. nil means that it
	// keeps the one it had. It has no effect with a queue that has no priorities.
	Priority *int
}

// IsZero says whether nothing is asked for.
func (r *Result) IsZero() bool {
	return r == nil || *r == Result{}
}

// Reconciler brings the object that a Request names to the state that is asked for.
type Reconciler = TypedReconciler[Request]

// TypedReconciler is a Reconciler whose requests are of any comparable type. Two requests that are equal are
// one to the queue.
//
// It is called from as many goroutines at once as its controller is allowed to use, and never twice at once
// for equal requests.
type TypedReconciler[request comparable] interface {
	// Reconcile brings what the request names to the state that is asked for, as far as that can be done now.
	//
	// ctx has the logger of this call (log.FromContext), and is cancelled when the controller stops, or when
	// the reconciliation has a time-out and it is over.
	//
	// After an error, the controller calls again, with delays that grow; except after a TerminalError. Of the
	// Result, then, only Priority counts. Without an error it calls again when the Result says so, and
	// whenever an event asks for it.
	Reconcile(context.Context, request) (Result, error)
}

// Func is a function as a Reconciler.
type Func = TypedFunc[Request]

// TypedFunc is a function as a TypedReconciler.
type TypedFunc[request comparable] func(context.Context, request) (Result, error)

// Reconcile calls the function.
func (r TypedFunc[request]) Reconcile(ctx context.Context, req request) (Result, error) {
	return r(ctx, req)
}

var _ Reconciler = Func(nil)
