package priorityqueue

import (
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/reconcile"
)

const (
	// keptEntries is how many unused entries are kept for keys to come.
	keptEntries = 1024

	// gaugePeriod is how often the gauges of running work are brought up to date while there is some.
	gaugePeriod = 500 * time.Millisecond
)

type queue[T comparable] struct {
	limiter workqueue.TypedRateLimiter[T]
	log     logr.Logger
	metrics *instruments // nil: none
	start   time.Time

	mu        sync.Mutex
	available sync.Cond // an entry is due, or the queue shuts down
	quiet     sync.Cond // a taken key is done, or an alarm has rung, while the queue shuts down

	entries map[T]*entry[T]
	most    int // entries there were since the map was made
	ready   bands[T]
	later   heap[*entry[T]]
	taken   list[T]
	seq     uint64
	free    list[T]

	wake  alarm // rings when the first of later is due
	gauge alarm // rings while there is work whose duration is to be told

	stopping bool
	draining bool
}

func newQueue[T comparable](name string, opts Opts[T]) *queue[T] {
	q := &queue[T]{
		limiter: opts.RateLimiter,
		log:     opts.Log.WithValues("queue", name),
		metrics: newInstruments(name, opts.MetricProvider),
		start:   time.Now(),
		entries: map[T]*entry[T]{},
	}
	q.available.L, q.quiet.L = &q.mu, &q.mu
	q.wake.ring, q.gauge.ring = q.onWake, q.onGauge
	return q
}

func (q *queue[T]) now() instant { return time.Since(q.start) }

func (q *queue[T]) Add(item T) { q.add(item, 0, 0, false, nil) }

func (q *queue[T]) AddAfter(item T, d time.Duration) { q.add(item, d, 0, true, nil) }

func (q *queue[T]) AddRateLimited(item T) { q.add(item, q.limiter.When(item), 0, true, nil) }

func (q *queue[T]) AddWithOpts(o AddOpts, items ...T) {
	for _, item := range items {
		q.AddBecause(nil, o, item)
	}
}

// AddBecause implements Tracing.
func (q *queue[T]) AddBecause(why *reconcile.Trigger, o AddOpts, item T) {
	priority := 0
	if o.Priority != nil {
		priority = *o.Priority
	}
	after := o.After
	if o.RateLimited {
		if limit := q.limiter.When(item); after <= 0 || limit < after {
			after = limit
		}
	}
	q.add(item, after, priority, o.RateLimited || o.After > 0, why)
}

func (q *queue[T]) Forget(item T) { q.limiter.Forget(item) }

func (q *queue[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }

func (q *queue[T]) add(item T, after time.Duration, priority int, retry bool, why *reconcile.Trigger) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stopping {
		return
	}
	if retry && q.metrics != nil {
		q.metrics.retries.Inc()
	}
	e := q.entries[item]
	if e == nil {
		e = q.newEntry(item)
	}
	if e.place != nowhere {
		e.merged++
	}
	if e.why == nil {
		e.why = why
	}
	switch e.place {
	case nowhere:
		e.priority = priority
		if after > 0 {
			q.delay(e, q.now()+after)
		} else {
			q.becomeDue(e)
		}
	case delayed:
		e.priority = max(e.priority, priority)
		if after <= 0 {
			q.later.remove(e)
			e.why = why
			q.becomeDue(e)
		} else if at := q.now() + after; at < e.readyAt {
			e.readyAt, e.why = at, why
			q.later.fix(e.at)
			q.setWake()
		}
	case held:
		if priority > e.priority {
			q.metrics.raised(e.priority, priority)
			e.priority = priority
		}
	case due:
		if priority > e.priority {
			q.metrics.raised(e.priority, priority)
			q.ready.remove(e)
			e.priority = priority
			q.ready.push(e)
		}
	}
}

// delay makes e wait until at.
func (q *queue[T]) delay(e *entry[T], at instant) {
	q.seq++
	e.place, e.readyAt, e.seq = delayed, at, q.seq
	q.later.push(e)
	q.setWake()
}

// becomeDue makes e wait for a worker, or for the one that has its key.
func (q *queue[T]) becomeDue(e *entry[T]) {
	if m := q.metrics; m != nil {
		m.added(e.priority)
		if !e.taken {
			e.since = q.now()
		}
	}
	if e.taken {
		e.place = held
		return
	}
	q.offer(e)
}

// offer lets a worker have e.
func (q *queue[T]) offer(e *entry[T]) {
	e.place = due
	q.ready.push(e)
	q.available.Signal()
}

func (q *queue[T]) Get() (T, bool) {
	item, _, shutdown := q.GetWithPriority()
	return item, shutdown
}

func (q *queue[T]) GetWithPriority() (item T, priority int, shutdown bool) {
	item, origin, shutdown := q.GetWithOrigin()
	return item, origin.Priority, shutdown
}

// GetWithOrigin implements Tracing.
func (q *queue[T]) GetWithOrigin() (item T, origin Origin, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.ready.len == 0 {
		if q.stopping {
			return item, origin, true
		}
		q.available.Wait()
	}
	e := q.ready.first()
	q.ready.remove(e)
	e.place, e.taken = nowhere, true
	q.taken.push(e)
	origin = Origin{Priority: e.priority, Trigger: e.why, Merged: e.merged}
	e.why, e.merged = nil, 0
	if m := q.metrics; m != nil {
		now := q.now()
		origin.Waited = now - e.since
		m.got(e.priority, origin.Waited)
		e.since = now
		if !q.gauge.set && !q.stopping {
			q.gauge.setTo(now+gaugePeriod, gaugePeriod)
		}
	}
	return e.key, origin, false
}

func (q *queue[T]) Done(item T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e := q.entries[item]
	if e == nil || !e.taken {
		return
	}
	e.taken = false
	q.taken.remove(e)
	if m := q.metrics; m != nil {
		now := q.now()
		m.work.Observe((now - e.since).Seconds())
		e.since = now
	}
	switch e.place {
	case held:
		q.offer(e)
	case nowhere:
		q.drop(e)
	}
	if q.stopping {
		q.quiet.Broadcast()
	}
}

func (q *queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.ready.len
	for e := q.taken.head; e != nil; e = e.next {
		if e.place == held {
			n++
		}
	}
	return n
}

func (q *queue[T]) ShutDown() { q.shutDown(false) }

func (q *queue[T]) ShutDownWithDrain() { q.shutDown(true) }

func (q *queue[T]) ShuttingDown() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stopping
}

func (q *queue[T]) shutDown(drain bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.draining = drain
	if !q.stopping {
		q.stopping = true
		q.log.V(1).Info("queue shuts down", "due", q.ready.len, "delayed", len(q.later), "taken", q.taken.len)
		for len(q.later) > 0 {
			e := q.later[len(q.later)-1]
			q.later.remove(e)
			e.place = nowhere
			if !e.taken {
				q.drop(e)
			}
		}
		q.wake.stop()
		q.gauge.stop()
	}
	q.available.Broadcast()
	q.quiet.Broadcast()
	for q.wake.calls > 0 || q.gauge.calls > 0 {
		q.quiet.Wait()
	}
	for drain && q.draining && (q.ready.len > 0 || q.taken.len > 0) {
		q.quiet.Wait()
	}
}

// setWake makes sure that the first of the delayed entries is not overslept.
func (q *queue[T]) setWake() {
	if first := q.later[0].readyAt; !q.wake.set || first < q.wake.at {
		q.wake.setTo(first, first-q.now())
	}
}

func (q *queue[T]) onWake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.wake.rang()
	if q.stopping {
		q.quiet.Broadcast()
		return
	}
	for now := q.now(); len(q.later) > 0 && q.later[0].readyAt <= now; {
		e := q.later[0]
		q.later.remove(e)
		q.becomeDue(e)
	}
	if len(q.later) > 0 {
		q.setWake()
	}
}

func (q *queue[T]) onGauge() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gauge.rang()
	if q.stopping {
		q.quiet.Broadcast()
		return
	}
	now := q.now()
	var all, longest time.Duration
	for e := q.taken.head; e != nil; e = e.next {
		all += now - e.since
		longest = max(longest, now-e.since)
	}
	q.metrics.unfinished.Set(all.Seconds())
	q.metrics.longest.Set(longest.Seconds())
	if q.taken.len > 0 {
		q.gauge.setTo(now+gaugePeriod, gaugePeriod)
	}
}

func (q *queue[T]) newEntry(item T) *entry[T] {
	e := q.free.head
	if e == nil {
		e = &entry[T]{}
	} else {
		q.free.remove(e)
	}
	e.key = item
	q.entries[item] = e
	q.most = max(q.most, len(q.entries))
	return e
}

func (q *queue[T]) drop(e *entry[T]) {
	delete(q.entries, e.key)
	if len(q.entries) == 0 && q.most > keptEntries {
		// A map keeps the room that it once needed; a controller's first list should not cost memory for ever.
		q.entries, q.most = map[T]*entry[T]{}, 0
	}
	if q.free.len < keptEntries {
		*e = entry[T]{}
		q.free.push(e)
	}
}
