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
	GetWithPriority() (item request, priority int, shutdown bool)
	AddWithOpts(o priorityqueue.AddOpts, items ...request)
	Forget(item request)
	Done(item request)
}

// flatQueue lets workers use a queue that has no priorities.
type flatQueue[request comparable] struct {
	workqueue.TypedRateLimitingInterface[request]
}

func (q flatQueue[request]) GetWithPriority() (item request, priority int, shutdown bool) {
	item, shutdown = q.Get()
	return item, 0, shutdown
}

func (q flatQueue[request]) AddWithOpts(o priorityqueue.AddOpts, items ...request) {
	for _, item := range items {
		switch {
		case o.RateLimited:
			q.AddRateLimited(item)
		case o.After > 0:
			q.AddAfter(item, o.After)
		default:
			q.Add(item)
		}
	}
}

func queueForWorkers[request comparable](q workqueue.TypedRateLimitingInterface[request]) workQueue[request] {
	if pq, ok := q.(priorityqueue.PriorityQueue[request]); ok {
		return pq
	}
	return flatQueue[request]{q}
}

// work takes requests from the queue until it shuts down. Those that it gets after ctx has ended it leaves undone.
func (c *controller[request]) work(ctx context.Context, q workQueue[request]) {
	for {
		r, priority, shutdown := q.GetWithPriority()
		if shutdown {
			return
		}
		if ctx.Err() != nil {
			q.Done(r)
			continue
		}
		c.process(ctx, q, r, priority)
	}
}

// process reconciles one request, and queues it again if that is called for.
func (c *controller[request]) process(ctx context.Context, q workQueue[request], r request, priority int) {
	defer q.Done(r)
	c.metrics.active.Inc()
	defer c.metrics.active.Dec()

	rec := record{id: newReconcileID(), priority: priority, started: time.Now()}
	logger := c.loggerOf(r, rec.id)
	ctx = context.WithValue(log.IntoContext(ctx, logger), reconcileIDKey{}, rec.id)

	c.call(ctx, r, &rec)
	rec.took = time.Since(rec.started)
	c.metrics.observe(&rec)
	rec.log(logger)

	next := rec.nextPriority()
	switch rec.outcome() {
	case succeeded:
		q.Forget(r)
	case failed:
		if rec.terminal() {
			q.Forget(r)
			break
		}
		q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, Priority: &next}, r)
	case requeued:
		q.AddWithOpts(priorityqueue.AddOpts{RateLimited: true, Priority: &next}, r)
	case requeuedAfter:
		// The time asked for starts a new count: what failed before has been got over.
		q.Forget(r)
		q.AddWithOpts(priorityqueue.AddOpts{After: rec.result.RequeueAfter, Priority: &next}, r)
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
