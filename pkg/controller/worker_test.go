package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/metrics"
	"github.com/operon-dev/operon/pkg/reconcile"
)

// attempt is one call of a reconciler.
type attempt struct {
	After    time.Duration // since the call before
	Priority int
}

// attempts lets a controller reconcile one key of priority 3, with these answers one after the other, and
// returns when the attempts were made.
func attempts(t *testing.T, o options, answers ...func() (reconcile.Result, error)) []attempt {
	t.Helper()
	var got []attempt
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		last := time.Now()
		three := 3
		o.Reconciler = fn(func(context.Context, string) (reconcile.Result, error) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, attempt{After: time.Since(last)})
			last = time.Now()
			if len(got) > len(answers) {
				return reconcile.Result{}, nil
			}
			return answers[len(got)-1]()
		})
		o.Logger = logr.Discard()
		c := newTest(t, o).(*controller[string])
		pq := priorityqueue.New[string]("")
		q := noting{pq, func(priority int) {
			mu.Lock()
			defer mu.Unlock()
			got[len(got)-1].Priority = priority
		}}
		pq.AddWithOpts(priorityqueue.AddOpts{Priority: &three}, "key")
		ctx, cancel := context.WithCancel(t.Context())
		var worker sync.WaitGroup
		worker.Go(func() { c.work(ctx, queueForWorkers(q), new(desk)) })
		time.Sleep(time.Hour)
		cancel()
		pq.ShutDown()
		worker.Wait()
	})
	return got
}

// noting is a queue that notes with what priority keys were handed out, when they are done.
type noting struct {
	priorityqueue.PriorityQueue[string]
	note func(priority int)
}

var handedOut sync.Map

func (n noting) GetWithPriority() (string, int, bool) {
	item, priority, shutdown := n.PriorityQueue.GetWithPriority()
	handedOut.Store(n.PriorityQueue, priority)
	return item, priority, shutdown
}

func (n noting) Done(item string) {
	priority, _ := handedOut.Load(n.PriorityQueue)
	n.note(priority.(int))
	n.PriorityQueue.Done(item)
}

func requeue() reconcile.Result {
	//lint:ignore SA1019 it has to work as long as it is there
	return reconcile.Result{Requeue: true}
}

func TestWhatHappensAfterAReconciliation(t *testing.T) {
	seven := 7
	type answer = func() (reconcile.Result, error)
	is := func(r reconcile.Result, err error) answer {
		return func() (reconcile.Result, error) { return r, err }
	}
	ms := time.Millisecond
	tests := map[string]struct {
		answers []answer
		want    []attempt
	}{
		"success: nothing": {
			[]answer{is(reconcile.Result{}, nil)},
			[]attempt{{0, 3}},
		},
		"errors: again, with growing delays and the same priority": {
			[]answer{is(reconcile.Result{}, io.EOF), is(reconcile.Result{}, io.EOF), is(reconcile.Result{}, io.EOF)},
			[]attempt{{0, 3}, {5 * ms, 3}, {10 * ms, 3}, {20 * ms, 3}},
		},
		"an error: the result does not count, except for its priority": {
			[]answer{is(reconcile.Result{RequeueAfter: time.Minute, Priority: &seven}, io.EOF)},
			[]attempt{{0, 3}, {5 * ms, 7}},
		},
		"a terminal error: nothing": {
			[]answer{is(reconcile.Result{}, fmt.Errorf("wrapped: %w", reconcile.TerminalError(io.EOF)))},
			[]attempt{{0, 3}},
		},
		"RequeueAfter: again after it, and errors before are forgotten": {
			[]answer{
				is(reconcile.Result{}, io.EOF), is(reconcile.Result{}, io.EOF),
				is(reconcile.Result{RequeueAfter: time.Minute}, nil), is(reconcile.Result{}, io.EOF),
			},
			[]attempt{{0, 3}, {5 * ms, 3}, {10 * ms, 3}, {time.Minute, 3}, {5 * ms, 3}},
		},
		"RequeueAfter with a priority": {
			[]answer{is(reconcile.Result{RequeueAfter: time.Minute, Priority: &seven}, nil)},
			[]attempt{{0, 3}, {time.Minute, 7}},
		},
		"Requeue: again, with growing delays": {
			[]answer{is(requeue(), nil), is(requeue(), nil)},
			[]attempt{{0, 3}, {5 * ms, 3}, {10 * ms, 3}},
		},
		"a negative RequeueAfter: nothing": {
			[]answer{is(reconcile.Result{RequeueAfter: -time.Second}, nil)},
			[]attempt{{0, 3}},
		},
		"a panic: like an error": {
			[]answer{func() (reconcile.Result, error) { panic("oops") }},
			[]attempt{{0, 3}, {5 * ms, 3}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, attempts(t, options{}, tt.answers...)); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPanicBecomesAnErrorWithTheStackInTheLog(t *testing.T) {
	var lines []string
	c := newTest(t, options{
		Logger: funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{}),
		Reconciler: fn(func(context.Context, string) (reconcile.Result, error) {
			frogTurnsOver()
			return reconcile.Result{}, nil
		}),
	})
	q := priorityqueue.New[string]("")
	q.Add("key")
	q.ShutDown()
	c.(*controller[string]).work(t.Context(), queueForWorkers(q), new(desk))
	if _, err := c.Reconcile(t.Context(), "key"); err == nil || !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), "panic") {
		t.Errorf("err = %v", err)
	}
	if all := strings.Join(lines, "\n"); !strings.Contains(all, "frogTurnsOver") || !strings.Contains(all, `"Reconciler error"`) {
		t.Errorf("the log lacks the stack or the error:\n%s", all)
	}

	off := false
	c = newTest(t, options{
		RecoverPanic: &off,
		Reconciler: fn(func(context.Context, string) (reconcile.Result, error) {
			frogTurnsOver()
			return reconcile.Result{}, nil
		}),
	})
	defer func() {
		if recover() == nil {
			t.Error("no panic although RecoverPanic is false")
		}
	}()
	c.Reconcile(t.Context(), "key")
}

func frogTurnsOver() { panic(io.EOF) }

func TestReconciliationTimeoutEndsTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTest(t, options{
			ReconciliationTimeout: time.Minute,
			Reconciler: fn(func(ctx context.Context, _ string) (reconcile.Result, error) {
				<-ctx.Done()
				return reconcile.Result{}, ctx.Err()
			}),
		}).(*controller[string])
		begin := time.Now()
		q := priorityqueue.New[string]("")
		q.Add("key")
		q.ShutDown()
		c.work(t.Context(), queueForWorkers(q), new(desk))
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("the context ended after %v, want 1 m", took)
		}
		if got := value(t, c.metrics.timeouts); got != 1 {
			t.Errorf("%v time-outs counted, want 1", got)
		}
	})
}

func TestMetrics(t *testing.T) {
	answers := map[string]func() (reconcile.Result, error){
		"ok":       func() (reconcile.Result, error) { return reconcile.Result{}, nil },
		"error":    func() (reconcile.Result, error) { return reconcile.Result{}, io.EOF },
		"terminal": func() (reconcile.Result, error) { return reconcile.Result{}, reconcile.TerminalError(io.EOF) },
		"panic":    func() (reconcile.Result, error) { panic("oops") },
		"after":    func() (reconcile.Result, error) { return reconcile.Result{RequeueAfter: time.Hour}, nil },
		"requeue":  func() (reconcile.Result, error) { return requeue(), nil },
	}
	var keys []string
	for key := range answers {
		keys = append(keys, key)
	}
	var reconciled sync.WaitGroup
	reconciled.Add(len(keys))
	seen := sync.Map{}
	c := newTest(t, options{Reconciler: fn(func(_ context.Context, key string) (reconcile.Result, error) {
		if _, again := seen.LoadOrStore(key, true); again {
			return reconcile.Result{}, nil
		}
		defer reconciled.Done()
		return answers[key]()
	}), RateLimiter: slow{}, MaxConcurrentReconciles: 2})
	c.Watch(adding(keys...))
	stop := run(t, c)
	reconciled.Wait()
	name := c.(*controller[string]).name
	for gathered(t, name)["workqueue_work_duration_seconds{}"] < 6 {
		time.Sleep(time.Millisecond)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"controller_runtime_reconcile_total{result=success}":       1,
		"controller_runtime_reconcile_total{result=error}":         3,
		"controller_runtime_reconcile_total{result=requeue}":       1,
		"controller_runtime_reconcile_total{result=requeue_after}": 1,
		"controller_runtime_reconcile_errors_total{}":              3,
		"controller_runtime_terminal_reconcile_errors_total{}":     1,
		"controller_runtime_reconcile_panics_total{}":              1,
		"controller_runtime_reconcile_timeouts_total{}":            0,
		"controller_runtime_reconcile_time_seconds{}":              6,
		"controller_runtime_max_concurrent_reconciles{}":           2,
		"controller_runtime_active_workers{}":                      0,
		"workqueue_depth{priority=0}":                              0,
		"workqueue_adds_total{}":                                   6,
		"workqueue_queue_duration_seconds{}":                       6,
		"workqueue_work_duration_seconds{}":                        6,
		"workqueue_unfinished_work_seconds{}":                      0,
		"workqueue_longest_running_processor_seconds{}":            0,
		"workqueue_retries_total{}":                                4,
		"operon_reconcile_triggers_total{cause=unknown}":           6,
	}
	got := gathered(t, name)
	maps.DeleteFunc(got, func(metric string, value float64) bool {
		return strings.HasPrefix(metric, "operon_") && value == 0
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// slow is a rate limiter that lets nothing be retried while a test lasts.
type slow struct{}

func (slow) When(string) time.Duration { return time.Hour }
func (slow) Forget(string)             {}
func (slow) NumRequeues(string) int    { return 0 }

// gathered are the values of all metrics of one controller in the default registry: counts, of histograms.
func gathered(t *testing.T, controller string) map[string]float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			mine, labels := false, ""
			for _, l := range m.GetLabel() {
				switch l.GetName() {
				case "controller":
					mine = l.GetValue() == controller
				case "name":
				default:
					labels += l.GetName() + "=" + l.GetValue()
				}
			}
			if mine {
				got[family.GetName()+"{"+labels+"}"] = number(m)
			}
		}
	}
	return got
}

func number(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	}
	return float64(m.Histogram.GetSampleCount())
}

func value(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return number(&out)
}
