package priorityqueue

import (
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/metrics"
)

// The default rate limiter's first and longest delay between two attempts at a key.
const (
	baseDelay = 5 * time.Millisecond
	maxDelay  = 1000 * time.Second
)

// PriorityQueue is a rate limiting workqueue whose keys have priorities.
//
// Add, AddAfter and AddRateLimited add with priority 0. Get is GetWithPriority without the priority. Len
// counts the keys that are due, those that wait for their own Done included and delayed ones not.
//
// ShutDown makes the queue ignore what is added from then on and forgets the delayed keys; workers are still
// given what was due, then told to end. ShutDownWithDrain waits until they are done with it besides.
type PriorityQueue[T comparable] interface {
	workqueue.TypedRateLimitingInterface[T]

	// AddWithOpts adds every item, as o says.
	AddWithOpts(o AddOpts, Items ...T)

	// GetWithPriority waits for an item that is due and takes it, until Done is called with it. With shutdown
	// true there is no item and there will be none: the caller should end.
	GetWithPriority() (item T, priority int, shutdown bool)
}

// AddOpts says how items are added. The zero value adds like Add.
type AddOpts struct {
	// After is how long the item is delayed. Zero and less: not at all.
	After time.Duration

	// RateLimited delays the item by what the rate limiter says, and makes the rate limiter count one more attempt.
	// Where After is set too, the shorter delay counts.
	RateLimited bool

	// Priority of the item, higher before lower; nil means 0.
	Priority *int
}

// Opts are a queue's options. The zero value means the defaults.
type Opts[T comparable] struct {
	// RateLimiter delays what is added as rate limited. Defaults to 5 ms for a key's first attempt, doubled with each
	// further one, 1000 s at most.
	RateLimiter workqueue.TypedRateLimiter[T]

	// MetricProvider makes the queue's metrics. Defaults to controller-runtime's workqueue_* metrics in
	// metrics.Registry. One that is a PriorityMetricsProvider is told of each priority's depth. A queue without a name has
	// no metrics.
	MetricProvider workqueue.MetricsProvider

	// Log hears, at verbosity 1, how many keys a shutdown left undone. Defaults to nothing.
	Log logr.Logger
}

// Opt changes the options of a new queue.
type Opt[T comparable] func(*Opts[T])

// New returns an empty queue that is ready for use. The name is the name and controller label of its metrics.
func New[T comparable](name string, o ...Opt[T]) PriorityQueue[T] {
	opts := Opts[T]{}
	for _, apply := range o {
		apply(&opts)
	}
	if opts.RateLimiter == nil {
		opts.RateLimiter = workqueue.NewTypedItemExponentialFailureRateLimiter[T](baseDelay, maxDelay)
	}
	if opts.MetricProvider == nil && name != "" {
		opts.MetricProvider = NewMetricsProvider(metrics.Registry)
	}
	if opts.Log.GetSink() == nil {
		opts.Log = logr.Discard()
	}
	return newQueue(name, opts)
}
