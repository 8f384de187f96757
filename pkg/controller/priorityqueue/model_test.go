package priorityqueue

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// model is a queue that is right because it is simple: it looks through everything, every time.
type model struct {
	keys  map[int]*modelKey
	count int
}

type modelKey struct {
	waiting, taken bool
	priority       int
	ready          time.Time

	offered bool // may be taken, in this order
	order   int
	delay   int // counts up with each delay that begins
}

func (m *model) offer(e *modelKey) {
	m.count++
	e.offered, e.order = true, m.count
}

func (m *model) add(k, priority int, after time.Duration) {
	now := time.Now()
	e := m.keys[k]
	switch {
	case !e.waiting:
		m.count++
		e.waiting, e.priority, e.ready, e.delay = true, priority, now.Add(after), m.count
		if after <= 0 && !e.taken {
			m.offer(e)
		}
		return
	case e.offered:
		if priority > e.priority {
			m.offer(e)
		}
	case now.Add(after).Before(e.ready):
		e.ready = now.Add(after)
		if after <= 0 && !e.taken {
			m.offer(e)
		}
	}
	e.priority = max(e.priority, priority)
}

// pass offers what has become due in the meantime.
func (m *model) pass() {
	var due []*modelKey
	for _, e := range m.keys {
		if e.waiting && !e.taken && !e.offered && !e.ready.After(time.Now()) {
			due = append(due, e)
		}
	}
	slices.SortFunc(due, func(a, b *modelKey) int {
		return cmp.Or(a.ready.Compare(b.ready), cmp.Compare(a.delay, b.delay))
	})
	for _, e := range due {
		m.offer(e)
	}
}

func (m *model) done(k int) {
	e := m.keys[k]
	e.taken = false
	if e.waiting && !e.ready.After(time.Now()) {
		m.offer(e)
	}
}

// next is the key that is to be handed out.
func (m *model) next() (int, bool) {
	next, found := 0, false
	for k, e := range m.keys {
		if !e.offered {
			continue
		}
		best := m.keys[next]
		if !found || e.priority > best.priority || e.priority == best.priority && e.order < best.order {
			next, found = k, true
		}
	}
	return next, found
}

func (m *model) due() (n int) {
	for _, e := range m.keys {
		if e.waiting && !e.ready.After(time.Now()) {
			n++
		}
	}
	return n
}

func (m *model) any(r *rand.Rand, ok func(*modelKey) bool) (int, bool) {
	for _, k := range r.Perm(len(m.keys)) {
		if e := m.keys[k]; e != nil && ok(e) {
			return k, true
		}
	}
	return 0, false
}

// check does random things to a queue and to the model, and compares them after each.
func check(t *testing.T, seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 0))
	keys := 1 + r.IntN(12)
	priorities := 1 + r.IntN(2*keptBands)
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[int](time.Millisecond, time.Second)
	shadow := workqueue.NewTypedItemExponentialFailureRateLimiter[int](time.Millisecond, time.Second)
	q := New("", func(o *Opts[int]) { o.RateLimiter = limiter })
	defer q.ShutDown()
	m := &model{keys: map[int]*modelKey{}}
	for k := range keys {
		m.keys[k] = &modelKey{}
	}
	var log []string
	note := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d after %q: %s", seed, log[max(0, len(log)-20):], fmt.Sprintf(format, args...))
	}
	for range steps {
		k := r.IntN(keys)
		switch op := r.IntN(10); op {
		case 0:
			note("Add(%d)", k)
			q.Add(k)
			m.add(k, 0, 0)
		case 1, 2:
			p := r.IntN(priorities) - priorities/2
			note("Add(%d, priority %d)", k, p)
			q.AddWithOpts(AddOpts{Priority: &p}, k)
			m.add(k, p, 0)
		case 3, 4:
			p := r.IntN(priorities) - priorities/2
			d := time.Duration(r.IntN(50)) * time.Millisecond
			note("Add(%d, priority %d, after %v)", k, p, d)
			q.AddWithOpts(AddOpts{Priority: &p, After: d}, k)
			m.add(k, p, d)
		case 5:
			note("AddRateLimited(%d)", k)
			q.AddRateLimited(k)
			m.add(k, 0, shadow.When(k))
		case 6:
			d := time.Duration(1+r.IntN(30)) * time.Millisecond
			note("Sleep(%v)", d)
			time.Sleep(d)
			synctest.Wait()
			m.pass()
		case 7:
			if k, ok := m.any(r, func(e *modelKey) bool { return e.taken }); ok {
				note("Done(%d)", k)
				q.Done(k)
				m.done(k)
				if r.IntN(2) == 0 {
					q.Forget(k)
					shadow.Forget(k)
				}
			}
		default:
			want, ok := m.next()
			if !ok {
				continue
			}
			got, priority, _ := q.GetWithPriority()
			note("Get() = %d, %d", got, priority)
			if got != want || priority != m.keys[want].priority {
				fail("got key %d of priority %d, want key %d of priority %d", got, priority, want, m.keys[want].priority)
			}
			m.keys[got].waiting, m.keys[got].offered, m.keys[got].taken = false, false, true
		}
		if got, want := q.Len(), m.due(); got != want {
			fail("Len() = %d, want %d", got, want)
		}
	}
}

func TestQueueBehavesLikeItsModel(t *testing.T) {
	rounds := uint64(300)
	if testing.Short() {
		rounds = 30
	}
	for seed := range rounds {
		synctest.Test(t, func(t *testing.T) { check(t, seed, 300) })
	}
}
