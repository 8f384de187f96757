package priorityqueue

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"
)

func at(priority int) AddOpts { return AddOpts{Priority: &priority} }

func in(d time.Duration, priority int) AddOpts { return AddOpts{After: d, Priority: &priority} }

type taken struct {
	Key      string
	Priority int
}

// drain takes all that is due, and is done with it at once.
func drain(q PriorityQueue[string]) []taken {
	var all []taken
	for q.Len() > 0 {
		key, priority, shutdown := q.GetWithPriority()
		if shutdown {
			break
		}
		all = append(all, taken{key, priority})
		q.Done(key)
	}
	return all
}

func TestOrder(t *testing.T) {
	tests := map[string]struct {
		add  func(q PriorityQueue[string])
		want []taken
	}{
		"equal priorities come in the order they were added": {
			func(q PriorityQueue[string]) { q.AddWithOpts(at(1), "a", "b", "c") },
			[]taken{{"a", 1}, {"b", 1}, {"c", 1}},
		},
		"higher priorities come first": {
			func(q PriorityQueue[string]) {
				q.AddWithOpts(at(-100), "low")
				q.Add("normal")
				q.AddWithOpts(at(7), "high")
			},
			[]taken{{"high", 7}, {"normal", 0}, {"low", -100}},
		},
		"a key is queued once": {
			func(q PriorityQueue[string]) { q.Add("a"); q.Add("b"); q.Add("a") },
			[]taken{{"a", 0}, {"b", 0}},
		},
		"a key that is raised goes to the end of its new priority": {
			func(q PriorityQueue[string]) {
				q.AddWithOpts(at(-100), "a")
				q.Add("b")
				q.Add("a")
				q.AddWithOpts(at(-100), "b")
			},
			[]taken{{"b", 0}, {"a", 0}},
		},
		"adding with a delay does not delay what is due": {
			func(q PriorityQueue[string]) { q.Add("a"); q.AddAfter("a", time.Hour) },
			[]taken{{"a", 0}},
		},
		"adding without a delay ends a delay, and the higher priority counts": {
			func(q PriorityQueue[string]) { q.AddWithOpts(in(time.Hour, 3), "a"); q.Add("b"); q.Add("a") },
			[]taken{{"a", 3}, {"b", 0}},
		},
		"no delay and a negative one are the same": {
			func(q PriorityQueue[string]) { q.AddAfter("a", 0); q.AddAfter("b", -time.Hour) },
			[]taken{{"a", 0}, {"b", 0}},
		},
		"more priorities than are kept": {
			func(q PriorityQueue[string]) {
				for i := range 4 * keptBands {
					q.AddWithOpts(at(i), string(rune('A'+i)))
				}
				for range 4*keptBands - 2 {
					key, _ := q.Get()
					q.Done(key)
				}
				q.AddWithOpts(at(5), "x")
			},
			[]taken{{"x", 5}, {"B", 1}, {"A", 0}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			q := New[string]("")
			defer q.ShutDown()
			tt.add(q)
			if diff := cmp.Diff(tt.want, drain(q)); diff != "" {
				t.Errorf("taken (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeyIsTakenByOneWorkerAtATime(t *testing.T) {
	q := New[string]("")
	defer q.ShutDown()
	q.Add("a")
	q.Get()
	q.AddWithOpts(at(2), "a")
	q.AddWithOpts(at(1), "a")
	q.Add("b")
	if got := q.Len(); got != 2 {
		t.Errorf("Len() = %d, want 2: a waits for its own end", got)
	}
	if key, _ := q.Get(); key != "b" {
		t.Fatalf("Get() = %q while a is taken, want b", key)
	}
	q.Done("a")
	if diff := cmp.Diff([]taken{{"a", 2}}, drain(q)); diff != "" {
		t.Errorf("after Done (-want +got):\n%s", diff)
	}
	q.Done("a")
	q.Done("never added")
	if q.Len() != 0 {
		t.Error("Done of keys that are not taken queued something")
	}
}

func TestDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]("")
		defer q.ShutDown()
		begin := time.Now()
		q.AddWithOpts(in(3*time.Second, 0), "c")
		q.AddWithOpts(in(time.Second, 0), "a", "b")
		q.AddWithOpts(in(2*time.Second, 9), "sooner")
		q.AddWithOpts(in(time.Second, 0), "sooner")
		q.AddWithOpts(in(5*time.Second, 0), "a")
		q.Add("taken")
		q.Get()
		q.AddAfter("taken", time.Second)

		type moment struct {
			Key string
			At  time.Duration
		}
		var got []moment
		next := func() {
			key, _ := q.Get()
			got = append(got, moment{key, time.Since(begin)})
			q.Done(key)
		}
		next()
		next()
		next()
		time.Sleep(500 * time.Millisecond)
		q.Done("taken")
		next()
		next()
		want := []moment{
			{"sooner", time.Second}, {"a", time.Second}, {"b", time.Second},
			{"taken", 1500 * time.Millisecond},
			{"c", 3 * time.Second},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestRateLimitedKeysBackOffFrom5msTo1000sUntilForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]("")
		defer q.ShutDown()
		wait := func() time.Duration {
			begin := time.Now()
			key, _ := q.Get()
			q.Done(key)
			return time.Since(begin)
		}
		for want := 5 * time.Millisecond; want < 1000*time.Second; want *= 2 {
			q.AddRateLimited("a")
			if got := wait(); got != want {
				t.Errorf("delay %v, want %v", got, want)
			}
		}
		q.AddRateLimited("a")
		if got := wait(); got != 1000*time.Second {
			t.Errorf("longest delay %v, want 1000 s", got)
		}
		if q.NumRequeues("a") != 19 {
			t.Errorf("NumRequeues() = %d, want 19", q.NumRequeues("a"))
		}
		q.Forget("a")
		q.AddWithOpts(AddOpts{RateLimited: true, After: time.Hour}, "a")
		if got := wait(); got != 5*time.Millisecond {
			t.Errorf("delay %v after Forget, want the shorter of 5 ms and 1 h", got)
		}
	})
}

func TestShutDownHandsOutWhatIsDueAndDropsWhatIsDelayed(t *testing.T) {
	q := New[string]("")
	q.Add("taken")
	q.Get()
	q.Add("due")
	q.Add("taken")
	q.AddAfter("delayed", time.Hour)
	q.ShutDown()
	q.Add("late")
	if !q.ShuttingDown() {
		t.Error("ShuttingDown() = false after ShutDown")
	}
	if key, _, shutdown := q.GetWithPriority(); key != "due" || shutdown {
		t.Errorf("GetWithPriority() = %q, shutdown %v, want due", key, shutdown)
	}
	q.Done("taken")
	if key, shutdown := q.Get(); key != "taken" || shutdown {
		t.Errorf("Get() = %q, shutdown %v, want taken", key, shutdown)
	}
	if key, shutdown := q.Get(); !shutdown {
		t.Errorf("Get() = %q, want shutdown", key)
	}
	q.ShutDown()
}

func TestShutDownWakesEveryWorker(t *testing.T) {
	q := New[string]("")
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			if _, shutdown := q.Get(); !shutdown {
				t.Error("Get returned without an item or shutdown")
			}
		})
	}
	q.ShutDown()
	workers.Wait()
}

func TestShutDownWithDrainWaitsForTakenAndDueKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]("")
		q.Add("a")
		q.Add("b")
		q.Get()
		drained := make(chan struct{})
		go func() {
			q.ShutDownWithDrain()
			close(drained)
		}()
		isDrained := func() bool {
			synctest.Wait()
			select {
			case <-drained:
				return true
			default:
				return false
			}
		}
		if isDrained() {
			t.Fatal("drained with one key taken and one due")
		}
		q.Done("a")
		if isDrained() {
			t.Fatal("drained with one key due")
		}
		q.Get()
		q.Done("b")
		if !isDrained() {
			t.Fatal("not drained when all was done")
		}
	})
}

func TestShutDownEndsADrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[string]("")
		q.Add("a")
		q.Get()
		go q.ShutDownWithDrain()
		synctest.Wait()
		q.ShutDown()
	})
}

func TestConcurrentWorkersNeverShareAKeyAndMissNothing(t *testing.T) {
	const keys, producers, rounds = 20, 4, 500
	q := New[int]("")
	var busy [keys]sync.Mutex
	var seen, added [keys]int
	var mu sync.Mutex
	var workers, adders sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for {
				key, _, shutdown := q.GetWithPriority()
				if shutdown {
					return
				}
				if !busy[key].TryLock() {
					t.Errorf("key %d is taken twice", key)
				} else {
					mu.Lock()
					seen[key] = added[key]
					mu.Unlock()
					busy[key].Unlock()
				}
				q.Done(key)
			}
		})
	}
	for p := range producers {
		adders.Go(func() {
			for i := range rounds {
				key := (i*7 + p) % keys
				mu.Lock()
				added[key]++
				mu.Unlock()
				q.AddWithOpts(in(time.Duration(i%3)*100*time.Microsecond, i%5), key)
			}
		})
	}
	adders.Wait()
	for key := range keys {
		q.Add(key)
	}
	q.ShutDownWithDrain()
	workers.Wait()
	if !slices.Equal(seen[:], added[:]) {
		t.Errorf("last seen %v, added %v", seen, added)
	}
}

func TestMemoryOfAFirstListIsGivenBack(t *testing.T) {
	q := newQueue("", Opts[int]{RateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[int](1, 1)})
	defer q.ShutDown()
	for key := range 5 * keptEntries {
		q.Add(key)
	}
	for range 5 * keptEntries {
		key, _ := q.Get()
		q.Done(key)
	}
	if q.free.len != keptEntries || q.most != 0 {
		t.Errorf("%d entries are kept and the map is for %d, want %d and 0", q.free.len, q.most, keptEntries)
	}
}
