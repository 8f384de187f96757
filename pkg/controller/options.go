package controller

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// Options are a controller's options.
type Options = TypedOptions[reconcile.Request]

// TypedOptions are a controller's options. Reconciler is required; of the rest, the zero value means the
// default. For a controller that has a manager, the manager's config.Controller comes before the default.
type TypedOptions[request comparable] struct {
	// SkipNameValidation allows a name that another controller has. The metrics of controllers of the same
	// name are counted together. Defaults to false.
	//
	// A name is taken from the making of a controller until its Start has returned. Managers do not mind each
	// other's controllers.
	SkipNameValidation *bool

	// MaxConcurrentReconciles is the number of workers, and so of requests that are reconciled at the same
	// time. Defaults to 1.
	MaxConcurrentReconciles int

	// CacheSyncTimeout is how long the controller waits, at its start, for its sources. When it is over, Start
	// returns an error that says what it waited for and why that did not come, and so does the manager's. With a
	// negative one the controller goes on waiting, for a CRD that is to come or a role that is to be bound, while
	// the others work. Defaults to 2 minutes.
	//
	// The log says from the first second on what the controller waits for, and the metric
	// operon_controller_sources_not_synced for how many.
	CacheSyncTimeout time.Duration

	// RecoverPanic says whether a panic of the reconciler becomes an error of that reconciliation, instead of
	// ending the process. Defaults to true.
	RecoverPanic *bool

	// NeedLeaderElection says whether the manager starts the controller only when it is elected. Defaults to true.
	NeedLeaderElection *bool

	// Reconciler that is called. Required.
	Reconciler reconcile.TypedReconciler[request]

	// RateLimiter says how long a request waits that is queued again after an error. Defaults to 5 ms after
	// the first, doubled with each further one, and 1000 s at most; without a priority queue, to
	// workqueue.DefaultTypedControllerRateLimiter.
	RateLimiter workqueue.TypedRateLimiter[request]

	// NewQueue makes the queue, when the controller starts. The controller shuts it down. Where it is a
	// priorityqueue.PriorityQueue, priorities are used. Defaults to one; with UsePriorityQueue false, to
	// client-go's workqueue.
	NewQueue func(controllerName string, rateLimiter workqueue.TypedRateLimiter[request]) workqueue.TypedRateLimitingInterface[request]

	// Logger from which the loggers are made where there is no LogConstructor. Defaults to the manager's, or log.Log.
	Logger logr.Logger

	// LogConstructor makes the logger of a reconciliation, to which its reconcileID is added, and, called
	// with nil, that of the controller itself. The default adds the name of the controller and GroupKind,
	// and, of the object, the namespace and name.
	LogConstructor func(request *request) logr.Logger

	// GroupKind is the kind of the objects that the requests name. The loggers say it, where there is no
	// LogConstructor. A builder with For fills it in.
	GroupKind schema.GroupKind

	// UsePriorityQueue says which queue NewQueue makes where it is not set. Defaults to true.
	UsePriorityQueue *bool

	// EnableWarmup lets the sources start before the manager is elected, so that there is nothing to wait for
	// after. It makes no difference to a controller that does not need election. Defaults to false.
	EnableWarmup *bool

	// ReconciliationTimeout is how long the context of a reconciliation lasts. Defaults to no limit.
	ReconciliationTimeout time.Duration

	// OnReconciled is called after each reconciliation, with all that is known about it, by the worker, which
	// waits for it: it has to be quick, and safe to be called by MaxConcurrentReconciles workers at once.
	// Defaults to nothing, and what only a record needs to know is not gathered then.
	OnReconciled func(reconcile.Record)
}

// DefaultFromConfig takes from config what the options leave open.
func (options *TypedOptions[request]) DefaultFromConfig(config config.Controller) {
	setDefault(&options.SkipNameValidation, config.SkipNameValidation)
	setDefault(&options.RecoverPanic, config.RecoverPanic)
	setDefault(&options.NeedLeaderElection, config.NeedLeaderElection)
	setDefault(&options.UsePriorityQueue, config.UsePriorityQueue)
	setDefault(&options.EnableWarmup, config.EnableWarmup)
	if options.Logger.GetSink() == nil {
		options.Logger = config.Logger
	}
	if options.MaxConcurrentReconciles <= 0 {
		options.MaxConcurrentReconciles = config.MaxConcurrentReconciles
	}
	if options.CacheSyncTimeout == 0 {
		options.CacheSyncTimeout = config.CacheSyncTimeout
	}
	if options.OnReconciled == nil {
		options.OnReconciled = config.OnReconciled
	}
	if options.ReconciliationTimeout == 0 {
		options.ReconciliationTimeout = config.ReconciliationTimeout
	}
}

func setDefault[T any](option **T, value *T) {
	if *option == nil {
		*option = value
	}
}
