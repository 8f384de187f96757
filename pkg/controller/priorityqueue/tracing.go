package priorityqueue

import (
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/reconcile"
)

// Tracing is a queue that knows why its keys wait. Those that New returns are.
//
// A key has one trigger: the first, unless the key is delayed and a later addition makes it due earlier, which
// then is what it waits for.
type Tracing[T comparable] interface {
	PriorityQueue[T]

	// AddBecause is AddWithOpts for one item, of which it is known why. The trigger must not change any more.
	AddBecause(why *reconcile.Trigger, o AddOpts, item T)

	// GetWithOrigin is GetWithPriority for a worker that wants to know more.
	GetWithOrigin() (item T, origin Origin, shutdown bool)
}

// Origin is what a queue knows about the waiting of a key that a worker has got.
type Origin struct {
	// Priority of the key.
	Priority int
	// Trigger is why the key waited; nil if that is not known.
	Trigger *reconcile.Trigger
	// Merged is how many more have added the key while it waited.
	Merged int
	// Waited is how long the key was due. It is 0 in a queue without metrics.
	Waited time.Duration
}

// Because returns q, except that it notes why as the trigger of what is added to it. A queue that does not know
// triggers is returned as it is.
func Because[T comparable](q workqueue.TypedRateLimitingInterface[T], why reconcile.Trigger) workqueue.TypedRateLimitingInterface[T] {
	if known, ok := q.(*queue[T]); ok {
		return &explained[T]{known, why}
	}
	return q
}

// explained is a queue to which is added for one reason.
type explained[T comparable] struct {
	*queue[T]
	why reconcile.Trigger
}

func (q *explained[T]) Add(item T) { q.add(item, 0, 0, false, &q.why) }

func (q *explained[T]) AddAfter(item T, d time.Duration) { q.add(item, d, 0, true, &q.why) }

func (q *explained[T]) AddRateLimited(item T) {
	q.add(item, q.limiter.When(item), 0, true, &q.why)
}

func (q *explained[T]) AddWithOpts(o AddOpts, items ...T) {
	for _, item := range items {
		q.AddBecause(&q.why, o, item)
	}
}
