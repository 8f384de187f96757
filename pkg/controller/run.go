package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/source"
)

// overdue is how long sources have to return after they were told to, before the controller stops waiting for them.
const overdue = time.Second

type controller[request comparable] struct {
	name        string
	options     TypedOptions[request]
	metrics     *instruments
	loggerOf    func(request, types.UID) logr.Logger // of a reconciliation
	releaseName func()

	mu      sync.Mutex
	sources []source.TypedSource[request] // that wait to be started
	intake  *intake[request]              // nil until the sources are started
	awaited []*awaited[request]           // sources that are started and not synced
	started bool
	stopped bool
}

// intake is the part of a controller that fills the queue.
type intake[request comparable] struct {
	queue  workqueue.TypedRateLimitingInterface[request]
	group  sync.WaitGroup // of the sources' goroutines
	add    func(source.TypedSource[request]) error
	cancel context.CancelFunc

	settled chan struct{} // closed when the first sources are synced, or one cannot be
	err     error         // why not; to be read when settled
}

func (c *controller[request]) GetLogger() logr.Logger { return c.options.LogConstructor(nil) }

// String names the controller where a manager says what it runs.
func (c *controller[request]) String() string { return fmt.Sprintf("controller %q", c.name) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (c *controller[request]) NeedLeaderElection() bool {
	return valueOr(c.options.NeedLeaderElection, true)
}

func (c *controller[request]) Watch(src source.TypedSource[request]) error {
	c.mu.Lock()
	if c.stopped {
		c.mu.Unlock()
		return fmt.Errorf("controller %q has stopped: %v is not started", c.name, src)
	}
	in := c.intake
	if in == nil {
		c.sources = append(c.sources, src)
		c.mu.Unlock()
		return nil
	}
	// close waits for the group: as long as it counts this call, the source may still add to it.
	in.group.Add(1)
	defer in.group.Done()
	c.mu.Unlock()
	c.GetLogger().Info("Starting EventSource", "source", fmt.Sprint(src))
	return in.add(src)
}

// Warmup starts the sources, if warm-up is enabled, and returns when they are synced. A manager calls it
// while it waits to be elected. The sources stop when ctx ends or Start returns.
func (c *controller[request]) Warmup(ctx context.Context) error {
	if !valueOr(c.options.EnableWarmup, false) || !c.NeedLeaderElection() {
		return nil
	}
	in, err := c.open(ctx, false)
	if err != nil {
		return err
	}
	return c.synced(ctx, in)
}

func (c *controller[request]) Start(ctx context.Context) error {
	logger := c.GetLogger()
	ctx = log.IntoContext(ctx, logger)
	in, err := c.open(ctx, true)
	if err != nil {
		return err
	}
	defer c.close(in)
	if err := c.synced(ctx, in); err != nil || ctx.Err() != nil {
		return err
	}

	n := c.options.MaxConcurrentReconciles
	logger.Info("Starting workers", "worker count", n)
	c.metrics.workers.Set(float64(n))
	queue := queueForWorkers(in.queue)
	desks := make([]desk, n)
	var workers, supervisor sync.WaitGroup
	for i := range desks {
		workers.Go(func() { c.work(ctx, queue, &desks[i]) })
	}
	// Those who outlast the shutdown are of interest, too.
	supervised, dismiss := context.WithCancel(context.WithoutCancel(ctx))
	defer dismiss()
	supervisor.Go(func() { superviseUntil(supervised, desks) })
	<-ctx.Done()
	logger.Info("Stopping workers")
	in.queue.ShutDown()
	workers.Wait()
	dismiss()
	supervisor.Wait()
	logger.Info("Stopped workers")
	return nil
}

// open starts the sources, unless that has been done.
func (c *controller[request]) open(ctx context.Context, start bool) (*intake[request], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if start {
		if c.started {
			return nil, fmt.Errorf("controller %q was started before: it can be started once", c.name)
		}
		c.started = true
	}
	if c.stopped {
		return nil, fmt.Errorf("controller %q has stopped", c.name)
	}
	if c.intake != nil {
		return c.intake, nil
	}
	ctx, cancel := context.WithCancel(log.IntoContext(ctx, c.GetLogger()))
	in := &intake[request]{
		queue:   c.options.NewQueue(c.name, c.options.RateLimiter),
		cancel:  cancel,
		settled: make(chan struct{}),
	}
	in.add = func(src source.TypedSource[request]) error {
		if owned, ok := src.(source.TypedOwnedSource[request]); ok {
			return owned.StartIn(ctx, &in.group, in.queue)
		}
		return src.Start(ctx, in.queue)
	}
	if !start {
		// Where it never comes to Start, there is nobody else to shut the queue down.
		context.AfterFunc(ctx, in.queue.ShutDown)
	}
	c.intake = in
	sources := c.sources
	c.sources = nil
	c.GetLogger().Info("Starting Controller")
	in.group.Go(func() {
		defer close(in.settled)
		in.err = c.startAll(ctx, in, sources)
	})
	return in, nil
}

// synced waits until the sources that were there at the start are synced. It returns nil, too, when ctx ends first.
func (c *controller[request]) synced(ctx context.Context, in *intake[request]) error {
	select {
	case <-in.settled:
	case <-ctx.Done():
		return nil
	}
	if in.err != nil && ctx.Err() == nil {
		return fmt.Errorf("controller %q: %w", c.name, in.err)
	}
	return nil
}

// close stops the sources and the queue, and waits for them.
func (c *controller[request]) close(in *intake[request]) {
	in.cancel()
	c.mu.Lock()
	c.stopped = true
	c.mu.Unlock()
	in.queue.ShutDown()
	in.group.Wait()
	c.releaseName()
}

// startAll starts the sources, all at once, and returns when all are synced, or with the error of the first
// that cannot be.
//
// Each has a goroutine that ends when the source lets it: one whose Start or WaitForSync ignores its context
// is given up on.
func (c *controller[request]) startAll(ctx context.Context, in *intake[request], sources []source.TypedSource[request]) error {
	limit := c.options.CacheSyncTimeout
	type answer struct {
		i   int
		err error
	}
	answers := make(chan answer, len(sources))
	waiting := map[int]struct{}{}
	for i, src := range sources {
		waiting[i] = struct{}{}
		c.GetLogger().Info("Starting EventSource", "source", fmt.Sprint(src))
		go func() { answers <- answer{i, c.startOne(ctx, in, src)} }()
	}

	var failure error
	given := time.NewTimer(limit + overdue)
	defer given.Stop()
	if limit < 0 {
		given.Stop()
	}
	ended := ctx.Done()
	for len(waiting) > 0 {
		select {
		case a := <-answers:
			delete(waiting, a.i)
			if a.err != nil && failure == nil {
				failure = fmt.Errorf("%v: %w", sources[a.i], a.err)
				in.cancel()
			}
		case <-ended:
			ended = nil
			given.Reset(overdue)
		case <-given.C:
			for i := range waiting {
				if failure == nil {
					failure = fmt.Errorf("%v: neither started nor gave up within %s", sources[i], limit)
				}
			}
			return failure
		}
	}
	return failure
}

// The pause before the controller says that it waits for a source, and the longest one before it says so again.
const (
	firstReport   = time.Second
	longestReport = 10 * time.Minute
)

// startOne starts a source and returns when it is synced or cannot be.
func (c *controller[request]) startOne(ctx context.Context, in *intake[request], src source.TypedSource[request]) error {
	if err := in.add(src); err != nil {
		return err
	}
	syncing, ok := src.(source.TypedSyncingSource[request])
	if !ok {
		return nil
	}
	defer c.await(src)()
	limit := c.options.CacheSyncTimeout
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	synced := make(chan error, 1)
	go func() { synced <- syncing.WaitForSync(ctx) }()
	for pause := firstReport; ; pause = min(4*pause, longestReport) {
		select {
		case err := <-synced:
			if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return fmt.Errorf("not synced within %s: %w", limit, err)
			}
			return err
		case <-time.After(pause):
			if ctx.Err() == nil {
				c.reportWaiting(src)
			}
		}
	}
}

// reportWaiting logs that the workers wait for a source, and why, if it knows.
func (c *controller[request]) reportWaiting(src source.TypedSource[request]) {
	logger := c.GetLogger().WithValues("source", fmt.Sprint(src))
	const waits = "Workers wait for a source that is not synced"
	if err := obstacleOf(src); err != nil && !apierrors.IsTimeout(err) {
		logger.Error(err, waits)
		return
	}
	logger.Info(waits)
}
