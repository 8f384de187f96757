package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// workQueue is what a worker needs of a queue.
type workQueue[request comparable] interface {
	GetWithOrigin() (item request, origin priorityqueue.Origin, shutdown bool)
	AddBecause(why *reconcile.Trigger, o priorityqueue.AddOpts, item request)
	Forget(item request)
	Done(item request)
}

// dumbQueue lets workers use a queue that has priorities and knows no triggers.
type dumbQueue[request comparable] struct {
	priorityqueue.PriorityQueue[request]
}

func (q dumbQueue[request]) GetWithOrigin() (item request, origin priorityqueue.Origin, shutdown bool) {
	item, origin.Priority, shutdown = q.GetWithPriority()
	return item, origin, shutdown
}

func (q dumbQueue[request]) AddBecause(_ *reconcile.Trigger, o priorityqueue.AddOpts, item request) {
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

func queueForWorkers[request comparable](q workqueue.TypedRateLimitingInterface[request]) workQueue[request] {
	if knowing, ok := q.(priorityqueue.Tracing[request]); ok {
		return knowing
	}
	if pq, ok := q.(priorityqueue.PriorityQueue[request]); ok {
		return dumbQueue[request]{pq}
	}
	return flatQueue[request]{q}
}

// work takes requests from the queue until it shuts down. Those that it gets after ctx has ended it leaves undone.
func (c *controller[request]) work(ctx context.Context, q workQueue[request], at *desk) {
	for {
		r, origin, shutdown := q.GetWithOrigin()
		if shutdown {
			return
		}
		if ctx.Err() != nil {
			q.Done(r)
			continue
		}
		c.process(ctx, q, r, origin, at)
	}
}

// Why requests are queued again.
var (
	becauseOfError  = &reconcile.Trigger{Cause: reconcile.CauseRetry}
	becauseOfResult = &reconcile.Trigger{Cause: reconcile.CauseRequeue}
)

// process reconciles one request, and queues it again if that is called for.
func (c *controller[request]) process(ctx context.Context, q workQueue[request], r request, origin priorityqueue.Origin, at *desk) {
	defer q.Done(r)
	c.metrics.active.Inc()
	defer c.metrics.active.Dec()

	rec := &record{origin: origin, started: time.Now()}
	rec.id = newReconcileID()
	rec.logger = c.loggerOf(r, rec.id)
	rec.detailed = c.options.OnReconciled != nil || rec.logger.V(detailVerbosity).Enabled()

	at.now.Store(rec)
	c.call(reconcileContext{log.IntoContext(ctx, rec.logger), &rec.journal}, r, rec)
	at.now.Store(nil)
	rec.took = time.Since(rec.started)
	c.metrics.observe(rec)
	rec.log()
	if tell := c.options.OnReconciled; tell != nil {
		tell(c.public(r, rec))
	}

	switch rec.outcome() {
	case succeeded:
		q.Forget(r)
	case failed:
		if rec.terminal() {
			q.Forget(r)
			break
		}
		q.AddBecause(becauseOfError, priorityqueue.AddOpts{RateLimited: true, Priority: rec.nextPriority()}, r)
	case requeued:
		q.AddBecause(becauseOfResult, priorityqueue.AddOpts{RateLimited: true, Priority: rec.nextPriority()}, r)
	case requeuedAfter:
		// The time asked for starts a new count: what failed before has been got over.
		q.Forget(r)
		q.AddBecause(becauseOfResult, priorityqueue.AddOpts{After: rec.result.RequeueAfter, Priority: rec.nextPriority()}, r)
	}
}

func (c *controller[request]) Reconcile(ctx context.Context, r request) (reconcile.Result, error) {
	var rec record
	c.call(ctx, r, &rec)
	return rec.result, rec.err
}

// errOutlasted is the cause with which the context of a reconciliation ends that outlasts its time-out.
var errOutlasted = errors.New("reconciliation outlasted its time-out")

// call calls the reconciler and notes in rec how that ended.
func (c *controller[request]) call(ctx context.Context, r request, rec *record) {
	if limit := c.options.ReconciliationTimeout; limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit, errOutlasted)
		defer func() {
			rec.timedOut = context.Cause(ctx) == errOutlasted
			cancel()
		}()
	}
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		c.metrics.panics.Inc()
		if !valueOr(c.options.RecoverPanic, true) {
			panic(p)
		}
		rec.panicked = true
		rec.result = reconcile.Result{}
		if err, ok := p.(error); ok {
			rec.err = fmt.Errorf("panic: %w [recovered]", err)
		} else {
			rec.err = fmt.Errorf("panic: %v [recovered]", p)
		}
		log.FromContext(ctx).Error(rec.err, "Observed a panic", "stacktrace", string(debug.Stack()))
	}()
	rec.result, rec.err = c.options.Reconciler.Reconcile(ctx, r)
}
