package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/reconcile"
)

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
