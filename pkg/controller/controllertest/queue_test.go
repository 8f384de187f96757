package controllertest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/controller/controllertest"
)

func TestWhateverIsAddedCanBeGotAtOnce(t *testing.T) {
	q := &controllertest.TypedQueue[string]{TypedInterface: workqueue.NewTyped[string]()}
	defer q.ShutDown()
	q.Add("now")
	q.AddAfter("later", time.Hour)
	q.AddRateLimited("slowly")
	q.AddRateLimited("slowly")
	var got []string
	for q.Len() > 0 {
		item, _ := q.Get()
		q.Done(item)
		got = append(got, item)
	}
	if diff := cmp.Diff([]string{"now", "later", "slowly"}, got); diff != "" {
		t.Errorf("got (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"slowly", "slowly"}, q.AddedRatelimited); diff != "" {
		t.Errorf("added rate limited (-want +got):\n%s", diff)
	}
}

func TestRequeuesAreCountedUntilForgotten(t *testing.T) {
	q := &controllertest.TypedQueue[string]{TypedInterface: workqueue.NewTyped[string]()}
	defer q.ShutDown()
	q.Forget("a")
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() { q.AddRateLimited("a") })
		all.Go(func() { q.AddAfter("a", time.Hour) })
	}
	q.AddRateLimited("b")
	all.Wait()
	if a, b, c := q.NumRequeues("a"), q.NumRequeues("b"), q.NumRequeues("c"); a != 5 || b != 1 || c != 0 {
		t.Errorf("a, b, c were requeued %d, %d, %d times, want 5, 1, 0", a, b, c)
	}
	q.Forget("a")
	if a, b := q.NumRequeues("a"), q.NumRequeues("b"); a != 0 || b != 1 {
		t.Errorf("after a is forgotten: a, b requeued %d, %d times, want 0, 1", a, b)
	}
}
