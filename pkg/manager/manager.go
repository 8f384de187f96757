package manager

import (
	"context"
	"net/http"

	"github.com/go-logr/logr"

	"github.com/operon-dev/operon/pkg/cluster"
	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/healthz"
	"github.com/operon-dev/operon/pkg/webhook"
	"github.com/operon-dev/operon/pkg/webhook/conversion"
)

// Manager runs runnables and gives them a cluster to work with. All methods
// may be called by several goroutines at once.
type Manager interface {
	// Cluster is the cluster that the manager runs for. It is started with the manager.
	cluster.Cluster

	// Add hands a runnable over. It is started by Start or, if the manager runs
	// already, now. It fails once the manager is stopping.
	Add(Runnable) error

	// Elected is closed when this manager leads: because it has won an
	// election or, when it is started, because there is none.
	Elected() <-chan struct{}

	// AddMetricsServerExtraHandler serves a handler on path beside the metrics.
	// Whoever can read the metrics can reach it. It fails once the manager has
	// started, and does nothing when there is no metrics server.
	AddMetricsServerExtraHandler(path string, handler http.Handler) error

	// AddHealthzCheck adds a check to the liveness probe. It fails once the manager has started.
	AddHealthzCheck(name string, check healthz.Checker) error

	// AddReadyzCheck adds a check to the readiness probe. It fails once the manager has started.
	AddReadyzCheck(name string, check healthz.Checker) error

	// Start runs everything until ctx is done, and returns nil then if all has
	// ended in time. It returns earlier, with an error, when a runnable fails
	// or the leadership is lost: the process should exit then. It runs once.
	Start(ctx context.Context) error

	// GetWebhookServer returns the server of webhooks. The first call adds it
	// to the manager: one that nobody asks for does not run.
	GetWebhookServer() webhook.Server

	// GetLogger returns the manager's logger.
	GetLogger() logr.Logger

	// GetControllerOptions returns what controllers fall back on.
	GetControllerOptions() config.Controller

	// GetConverterRegistry returns what holds the converters of kinds, for the
	// conversion webhook.
	GetConverterRegistry() conversion.Registry
}

// Runnable is something that runs.
type Runnable interface {
	// Start runs until ctx is done or it fails. It blocks until all it has
	// started has ended.
	Start(context.Context) error
}

// RunnableFunc is a function that is a Runnable. It blocks like Runnable.Start.
type RunnableFunc func(context.Context) error

// Start implements Runnable.
func (r RunnableFunc) Start(ctx context.Context) error {
	return r(ctx)
}

// LeaderElectionRunnable is implemented by a Runnable that says whether it
// may run on the leader only.
type LeaderElectionRunnable interface {
	// NeedLeaderElection reports whether the runnable runs on the leader only.
	NeedLeaderElection() bool
}

// warmer is implemented by a Runnable that can prepare itself while it waits for leadership.
type warmer interface {
	Warmup(context.Context) error
}

// BaseContextFunc returns the context that the contexts of runnables come from.
type BaseContextFunc func() context.Context
