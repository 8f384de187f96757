package priorityqueue

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/reconcile"
)

// TestAKeyHasTheTriggerThatMadeItDue adds one key in several ways, each with a trigger of its own.
func TestAKeyHasTheTriggerThatMadeItDue(t *testing.T) {
	type q = Tracing[string]
	add := func(q q, cause reconcile.Cause, o AddOpts) { q.AddBecause(&reconcile.Trigger{Cause: cause}, o, "key") }
	const create, update, retry = reconcile.CauseCreate, reconcile.CauseUpdate, reconcile.CauseRetry
	tests := map[string]struct {
		add    func(q)
		cause  reconcile.Cause
		merged int
	}{
		"nobody says why": {func(q q) { q.Add("key") }, reconcile.CauseUnknown, 0},
		"one":             {func(q q) { add(q, create, AddOpts{}) }, create, 0},
		"the first of several": {
			func(q q) {
				add(q, create, AddOpts{})
				add(q, update, AddOpts{})
				add(q, retry, AddOpts{After: time.Hour})
			}, create, 2,
		},
		"the first that is known": {func(q q) { q.Add("key"); add(q, update, AddOpts{}) }, update, 1},
		"an event that comes before the retry": {
			func(q q) { add(q, retry, AddOpts{After: time.Hour}); add(q, update, AddOpts{}) }, update, 1,
		},
		"a delay that is shorter": {
			func(q q) { add(q, retry, AddOpts{After: time.Hour}); add(q, update, AddOpts{After: time.Minute}) }, update, 1,
		},
		"a delay that is longer": {
			func(q q) { add(q, retry, AddOpts{After: time.Minute}); add(q, update, AddOpts{After: time.Hour}) }, retry, 1,
		},
		"while the key is worked on": {
			func(q q) {
				add(q, create, AddOpts{})
				q.Get()
				add(q, update, AddOpts{})
				add(q, update, AddOpts{})
				q.Done("key")
			}, update, 1,
		},
		"a handler's additions": {
			func(q q) {
				low := -100
				why := Because(workqueue.TypedRateLimitingInterface[string](q), reconcile.Trigger{Cause: update})
				why.(PriorityQueue[string]).AddWithOpts(AddOpts{Priority: &low}, "key")
				why.Add("key")
				why.AddAfter("key", time.Hour)
				why.AddRateLimited("key")
			}, update, 3,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New[string]("").(Tracing[string])
				defer q.ShutDown()
				tt.add(q)
				_, origin, _ := q.GetWithOrigin()
				var got reconcile.Cause
				if origin.Trigger != nil {
					got = origin.Trigger.Cause
				}
				if got != tt.cause || origin.Merged != tt.merged {
					t.Errorf("%s and %d more, want %s and %d more", got, origin.Merged, tt.cause, tt.merged)
				}
				q.Done("key")
				q.Add("key")
				if _, origin, _ := q.GetWithOrigin(); origin.Trigger != nil || origin.Merged != 0 {
					t.Errorf("the next time: %+v", origin)
				}
			})
		})
	}
}

func TestAQueueThatKnowsNoTriggersIsUsedAsItIs(t *testing.T) {
	plain := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	defer plain.ShutDown()
	if got := Because(plain, reconcile.Trigger{}); got != plain {
		t.Error("it was wrapped")
	}
}
