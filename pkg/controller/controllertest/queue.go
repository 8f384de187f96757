package controllertest

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/reconcile"
)

// Queue is a TypedQueue of requests.
type Queue = TypedQueue[reconcile.Request]

// TypedQueue is a rate limiting queue in front of one that is not: everything is added at once, so that a test finds it there
// when the function it tests has returned.
//
//	q := &controllertest.Queue{TypedInterface: workqueue.NewTyped[reconcile.Request]()}
type TypedQueue[request comparable] struct {
	// TypedInterface is the queue that holds the items. It must be set.
	workqueue.TypedInterface[request]

	// AddedRateLimitedLock guards AddedRatelimited.
	AddedRateLimitedLock sync.Mutex

	// AddedRatelimited is what was added by AddRateLimited, in that order, as often as it was added.
	AddedRatelimited []any

	requeues map[request]int // guarded by AddedRateLimitedLock
}

var _ workqueue.TypedRateLimitingInterface[reconcile.Request] = &Queue{}

// AddAfter adds item at once.
func (q *TypedQueue[request]) AddAfter(item request, duration time.Duration) { q.Add(item) }

// AddRateLimited adds item at once and notes it in AddedRatelimited.
func (q *TypedQueue[request]) AddRateLimited(item request) {
	q.AddedRateLimitedLock.Lock()
	q.AddedRatelimited = append(q.AddedRatelimited, item)
	if q.requeues == nil {
		q.requeues = map[request]int{}
	}
	q.requeues[item]++
	q.AddedRateLimitedLock.Unlock()
	q.Add(item)
}

// Forget sets NumRequeues of item to zero. It stays in AddedRatelimited.
func (q *TypedQueue[request]) Forget(item request) {
	q.AddedRateLimitedLock.Lock()
	defer q.AddedRateLimitedLock.Unlock()
	delete(q.requeues, item)
}

// NumRequeues returns how often AddRateLimited was called with item since it was last forgotten.
func (q *TypedQueue[request]) NumRequeues(item request) int {
	q.AddedRateLimitedLock.Lock()
	defer q.AddedRateLimitedLock.Unlock()
	return q.requeues[item]
}
