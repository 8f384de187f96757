package manager

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/cluster"
	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/healthz"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/recorder"
	"github.com/operon-dev/operon/pkg/webhook"
	"github.com/operon-dev/operon/pkg/webhook/certificates"
	"github.com/operon-dev/operon/pkg/webhook/conversion"
)

type manager struct {
	cluster.Cluster

	options       Options
	logger        logr.Logger
	metricsServer metricsserver.Server // nil when there is none
	health        *probes              // nil when there is none
	pprof         *probes              // nil when there is none

	addWebhooks  sync.Once // with the first call of GetWebhookServer
	converters   conversion.Registry
	certificates *certificates.Keeper // nil when there is none

	lock       resourcelock.Interface // nil without leader election
	lockEvents *recorder.APIProvider  // of the lock; nil if that is the options'
	elected    chan struct{}

	// awaitRelease calls a function when the lock is given back, until its context ends. nil if nobody can tell.
	awaitRelease func(context.Context, func())

	failures *failures
	// The groups of runnables, in the order they start.
	servers, webhooks, caches, always, warmup, leading *group

	mu      sync.Mutex
	started bool
	healthy map[string]healthz.Checker
	ready   map[string]healthz.Checker
}

func (m *manager) GetLogger() logr.Logger { return m.logger }

func (m *manager) GetControllerOptions() config.Controller { return m.options.Controller }

func (m *manager) Elected() <-chan struct{} { return m.elected }

// caching is a runnable with a cache that others may read from.
type caching interface {
	GetCache() cache.Cache
}

// Add implements Manager.
func (m *manager) Add(r Runnable) error {
	switch r := r.(type) {
	case webhook.Server:
		return m.webhooks.add(r)
	case caching, cache.Cache:
		return m.caches.add(r)
	}
	leaderOnly := true
	if elective, ok := r.(LeaderElectionRunnable); ok {
		leaderOnly = elective.NeedLeaderElection()
	}
	if server, ok := r.(*Server); ok && !leaderOnly {
		return m.servers.add(server)
	}
	if !leaderOnly {
		return m.always.add(r)
	}
	if w, ok := r.(warmer); ok {
		if err := m.warmup.add(warmupOf{w, r}); err != nil {
			return err
		}
	}
	return m.leading.add(r)
}

// warmupOf is the warm-up of a runnable.
type warmupOf struct {
	warmer
	of Runnable
}

func (w warmupOf) Start(ctx context.Context) error { return w.Warmup(ctx) }
func (w warmupOf) String() string                  { return "warm-up of " + nameOf(w.of) }

// AddMetricsServerExtraHandler implements Manager.
func (m *manager) AddMetricsServerExtraHandler(path string, handler http.Handler) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started {
		return fmt.Errorf("metrics handler for %s: the manager has started already", path)
	}
	if m.metricsServer == nil {
		m.logger.Info("metrics server is disabled, so the extra handler is not served", "path", path)
		return nil
	}
	return m.metricsServer.AddExtraHandler(path, handler)
}

// Start implements Manager.
func (m *manager) Start(ctx context.Context) error {
	if err := m.begin(); err != nil {
		return err
	}
	base := m.baseContext()
	m.servers.start(base)
	m.webhooks.start(base)

	var waiting sync.WaitGroup
	defer waiting.Wait()
	waits, stopWaiting := context.WithCancel(logr.NewContext(ctx, m.logger))
	defer stopWaiting()
	// begun returns what is closed when all of a group has started.
	begun := func(g *group, started func(context.Context, Runnable) error) <-chan struct{} {
		done := make(chan struct{})
		waiting.Go(func() {
			for _, member := range g.members() {
				if err := started(waits, member); err != nil {
					m.failures.report(err)
					return
				}
			}
			close(done)
		})
		return done
	}
	webhooksStarted, cachesStarted := begun(m.webhooks, webhookStarted), (<-chan struct{})(nil)

	var election *candidacy
	var won, lost <-chan struct{}
	for {
		select {
		case <-webhooksStarted:
			webhooksStarted = nil
			m.caches.start(base)
			cachesStarted = begun(m.caches, cacheStarted)
		case <-cachesStarted:
			cachesStarted = nil
			m.always.start(base)
			m.warmup.start(base)
			if m.lock == nil {
				close(m.elected)
				m.leading.start(base)
				continue
			}
			var err error
			if election, err = m.runElection(base); err != nil {
				m.failures.report(err)
				continue
			}
			won, lost = election.won, election.lost
		case <-won:
			won = nil
			close(m.elected)
			m.leading.start(base)
		case <-lost:
			m.failures.report(errElectionLost)
			// Another manager may lead already: nothing here may take its time.
			err := m.failures.stop()
			_ = m.stop(election, 0)
			return err
		case <-m.failures.some:
			return m.end(ctx, election)
		case <-ctx.Done():
			return m.end(ctx, election)
		}
	}
}

// end stops the manager and returns why it had to, or nil if it was told to.
func (m *manager) end(ctx context.Context, election *candidacy) error {
	err := m.failures.stop()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		// A runnable that has ctx, too, was faster than we were.
		err = nil
	}
	late := m.stop(election, *m.options.GracefulShutdownTimeout)
	switch {
	case late == nil:
		return err
	case err == nil:
		return late
	}
	return errors.Join(err, late)
}

func (m *manager) begin() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started {
		return errors.New("the manager was started before: make another one")
	}
	m.started = true
	if err := m.caches.add(m.Cluster); err != nil {
		return err
	}
	if m.certificates != nil {
		if err := m.webhooks.add(m.certificates); err != nil {
			return err
		}
	}
	if m.metricsServer != nil {
		if err := m.servers.add(m.metricsServer); err != nil {
			return err
		}
	}
	for _, p := range []*probes{m.health, m.pprof} {
		if p == nil {
			continue
		}
		if err := m.servers.add(p); err != nil {
			return err
		}
	}
	return nil
}

func (m *manager) baseContext() context.Context {
	base := m.options.BaseContext()
	if _, err := logr.FromContext(base); err != nil {
		base = logr.NewContext(base, m.logger)
	}
	return base
}

// starting is what tells when it has started.
type starting interface {
	Started() <-chan struct{}
}

// cacheStarted waits until a cache can be read from, or ctx is done.
func cacheStarted(ctx context.Context, member Runnable) error {
	c, ok := member.(cache.Cache)
	if !ok {
		c = member.(caching).GetCache()
	}
	if s, ok := c.(starting); ok {
		return wait(ctx, s)
	}
	// A cache that does not tell when it has started must have filled what was asked for before.
	if !c.WaitForCacheSync(ctx) && ctx.Err() == nil {
		return fmt.Errorf("cache of %s was not filled", nameOf(member))
	}
	return ctx.Err()
}

// wait waits until something has started. Nobody looks at the error when ctx is done.
func wait(ctx context.Context, s starting) error {
	select {
	case <-s.Started():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop stops everything in the opposite order of the start. It waits for grace
// at most, or without end if grace is negative.
func (m *manager) stop(election *candidacy, grace time.Duration) error {
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if grace >= 0 {
		ctx, cancel = context.WithTimeout(ctx, grace)
	}
	defer cancel()

	var late []string
	for _, g := range []*group{m.leading, m.warmup, m.always, m.caches, m.webhooks, m.servers} {
		m.logger.Info("Stopping " + g.name)
		g.stop()
		if g.isIdle() {
			continue
		}
		select {
		case <-g.idle:
		case <-ctx.Done():
			if late == nil {
				// The groups after this one get no time at all: they are not to blame.
				late = g.stillRunning()
			}
		}
	}
	election.end()
	if len(late) == 0 || grace == 0 {
		return nil
	}
	return fmt.Errorf("still running after the grace period of %s: %s: %w", grace, strings.Join(late, ", "), ctx.Err())
}
