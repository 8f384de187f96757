package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/metrics"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
)

// Controller runs a reconciler for objects.
type Controller = TypedController[reconcile.Request]

// TypedController runs a reconciler. All methods may be called from any goroutine.
type TypedController[request comparable] interface {
	// Reconcile calls the reconciler, as a worker would: panics become errors, and the time-out applies. It
	// neither looks at the queue nor keeps others from reconciling the same request.
	reconcile.TypedReconciler[request]

	// Watch adds a source. One that is added after the controller was started is started at once, and not
	// waited for. It returns what the source's Start returns, or an error if the controller has stopped.
	Watch(src source.TypedSource[request]) error

	// Start runs the controller until ctx ends, and returns after all of its goroutines have. It returns an
	// error if a source cannot be started or synced, and if it is called a second time.
	Start(ctx context.Context) error

	// GetLogger returns the logger of the controller as a whole.
	GetLogger() logr.Logger
}

// New returns a controller that mgr starts. The name has to be unique among mgr's controllers; see
// Options.SkipNameValidation.
func New(name string, mgr manager.Manager, options Options) (Controller, error) {
	return NewTyped(name, mgr, options)
}

// NewTyped returns a controller that mgr starts. The name has to be unique among mgr's controllers; see
// TypedOptions.SkipNameValidation.
func NewTyped[request comparable](name string, mgr manager.Manager, options TypedOptions[request]) (TypedController[request], error) {
	if mgr == nil {
		return nil, fmt.Errorf("controller %q: no manager", name)
	}
	options.DefaultFromConfig(mgr.GetControllerOptions())
	if options.Logger.GetSink() == nil {
		options.Logger = mgr.GetLogger()
	}
	c, err := newController(name, mgr, options)
	if err != nil {
		return nil, err
	}
	if err := mgr.Add(c); err != nil {
		c.releaseName()
		return nil, fmt.Errorf("controller %q: %w", name, err)
	}
	return c, nil
}

// NewUnmanaged returns a controller that the caller starts. The name has to be unique among the unmanaged
// controllers of the process; see Options.SkipNameValidation.
func NewUnmanaged(name string, options Options) (Controller, error) {
	return NewTypedUnmanaged(name, options)
}

// NewTypedUnmanaged returns a controller that the caller starts. The name has to be unique among the
// unmanaged controllers of the process; see TypedOptions.SkipNameValidation.
func NewTypedUnmanaged[request comparable](name string, options TypedOptions[request]) (TypedController[request], error) {
	c, err := newController(name, nil, options)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func newController[request comparable](name string, mgr manager.Manager, options TypedOptions[request]) (*controller[request], error) {
	if name == "" {
		return nil, errors.New("a controller needs a name")
	}
	if options.Reconciler == nil {
		return nil, fmt.Errorf("controller %q: no Reconciler in its options", name)
	}
	shared := sharedCollectors(metrics.Registry)
	release := func() {}
	if !valueOr(options.SkipNameValidation, false) {
		var err error
		if release, err = shared.names.reserve(mgr, name); err != nil {
			return nil, err
		}
	}
	setDefaults(&options)
	c := &controller[request]{
		name:        name,
		options:     options,
		metrics:     shared.of(name),
		releaseName: release,
	}
	if options.LogConstructor == nil {
		own := ownLogger(options.Logger, name, options.GroupKind)
		c.options.LogConstructor = logConstructor[request](own, options.GroupKind)
		c.loggerOf = func(r request, id types.UID) logr.Logger {
			if own.GetSink() == nil {
				return own
			}
			return onDemand(own, func() logr.Logger {
				named := r // of a closure that is not called, r stays off the heap
				return c.options.LogConstructor(&named).WithValues("reconcileID", id)
			})
		}
	} else {
		c.loggerOf = func(r request, id types.UID) logr.Logger {
			return c.options.LogConstructor(&r).WithValues("reconcileID", id)
		}
	}
	return c, nil
}

// setDefaults fills in what neither the options nor the manager say.
func setDefaults[request comparable](options *TypedOptions[request]) {
	if options.MaxConcurrentReconciles <= 0 {
		options.MaxConcurrentReconciles = 1
	}
	if options.CacheSyncTimeout == 0 {
		options.CacheSyncTimeout = 2 * time.Minute
	}
	byPriority := valueOr(options.UsePriorityQueue, true)
	if options.RateLimiter == nil {
		if byPriority {
			options.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[request](5*time.Millisecond, 1000*time.Second)
		} else {
			options.RateLimiter = workqueue.DefaultTypedControllerRateLimiter[request]()
		}
	}
	if options.Logger.GetSink() == nil {
		options.Logger = log.Log
	}
	if options.NewQueue == nil {
		if byPriority {
			options.NewQueue = newPriorityQueue[request](options.Logger)
		} else {
			options.NewQueue = newPlainQueue[request]
		}
	}
}

func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
