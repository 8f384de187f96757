package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/manager"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
)

type (
	options = TypedOptions[string]
	queueOf = workqueue.TypedRateLimitingInterface[string]
	fn      = reconcile.TypedFunc[string]
)

// fakeSource is a source that is synced when it is told to be.
type fakeSource struct {
	start  func(ctx context.Context, q queueOf) error
	synced chan error
}

func (s *fakeSource) Start(ctx context.Context, q queueOf) error {
	if s.start == nil {
		return nil
	}
	return s.start(ctx, q)
}

func (s *fakeSource) WaitForSync(ctx context.Context) error {
	select {
	case err := <-s.synced:
		return err
	case <-ctx.Done():
		return fmt.Errorf("frogs are asleep: %w", ctx.Err())
	}
}

func (s *fakeSource) String() string { return "fake source" }

// adding is a source that adds these keys at its start.
func adding(keys ...string) source.TypedSource[string] {
	return source.TypedFunc[string](func(_ context.Context, q queueOf) error {
		for _, key := range keys {
			q.Add(key)
		}
		return nil
	})
}

var made atomic.Int32

func newTest(t *testing.T, o options) TypedController[string] {
	t.Helper()
	if o.Reconciler == nil {
		o.Reconciler = fn(func(context.Context, string) (reconcile.Result, error) { return reconcile.Result{}, nil })
	}
	if o.Logger.GetSink() == nil {
		o.Logger = logr.Discard()
	}
	c, err := NewTypedUnmanaged(fmt.Sprintf("test_%d", made.Add(1)), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run starts c, and returns what stops it and gives Start's error.
func run(t *testing.T, c TypedController[string]) (stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	var err error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = c.Start(ctx)
	}()
	return func() error {
		cancel()
		<-ended
		return err
	}
}

func TestOneWorkerToAKeyAndNoEventLost(t *testing.T) {
	const keys = 5
	var busy [keys]atomic.Bool
	var events, seen [keys]atomic.Int32
	var most, now atomic.Int32
	c := newTest(t, options{
		MaxConcurrentReconciles: 4,
		Reconciler: fn(func(_ context.Context, key string) (reconcile.Result, error) {
			i := key[0] - '0'
			if !busy[i].CompareAndSwap(false, true) {
				t.Errorf("key %s is reconciled twice at a time", key)
			}
			for n := now.Add(1); n > most.Load(); {
				most.Store(n)
			}
			seen[i].Store(events[i].Load())
			time.Sleep(50 * time.Microsecond)
			now.Add(-1)
			busy[i].Store(false)
			return reconcile.Result{}, nil
		}),
	})
	var q queueOf
	started := make(chan struct{})
	c.Watch(source.TypedFunc[string](func(_ context.Context, queue queueOf) error {
		q = queue
		close(started)
		return nil
	}))
	stop := run(t, c)
	<-started
	var producers sync.WaitGroup
	for range 4 {
		producers.Go(func() {
			for i := range 400 {
				events[i%keys].Add(1)
				q.Add(fmt.Sprint(i % keys))
			}
		})
	}
	producers.Wait()
	deadline := time.Now().Add(time.Minute)
	for i := range keys {
		for seen[i].Load() != events[i].Load() {
			if time.Now().After(deadline) {
				t.Fatalf("the last event of key %d was not reconciled", i)
			}
			time.Sleep(time.Millisecond)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if most.Load() > 4 {
		t.Errorf("%d reconciliations at a time, want 4 at most", most.Load())
	}
}

func TestHigherPrioritiesAreReconciledFirst(t *testing.T) {
	got := make(chan string, 3)
	c := newTest(t, options{Reconciler: fn(func(_ context.Context, key string) (reconcile.Result, error) {
		got <- key
		return reconcile.Result{}, nil
	})})
	c.Watch(source.TypedFunc[string](func(_ context.Context, q queueOf) error {
		pq := q.(priorityqueue.PriorityQueue[string])
		for key, priority := range map[string]int{"low": -100, "high": 5, "normal": 0} {
			pq.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, key)
		}
		return nil
	}))
	stop := run(t, c)
	if diff := cmp.Diff([]string{"high", "normal", "low"}, []string{<-got, <-got, <-got}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	stop()
}

func TestWorkersBeginWhenAllSourcesAreSynced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reconciled atomic.Bool
		c := newTest(t, options{Reconciler: fn(func(context.Context, string) (reconcile.Result, error) {
			reconciled.Store(true)
			return reconcile.Result{}, nil
		})})
		first, second := &fakeSource{synced: make(chan error)}, &fakeSource{synced: make(chan error)}
		c.Watch(first)
		c.Watch(adding("a"))
		c.Watch(second)
		stop := run(t, c)
		first.synced <- nil
		synctest.Wait()
		if reconciled.Load() {
			t.Error("reconciled before all sources were synced")
		}
		begin := time.Now()
		second.synced <- nil
		synctest.Wait()
		if !reconciled.Load() || time.Since(begin) != 0 {
			t.Error("did not begin at once when all sources were synced")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestSourceThatCannotStartOrSyncEndsTheController(t *testing.T) {
	ended := false
	cases := map[string]struct {
		src   func() source.TypedSource[string]
		want  []string
		is    error
		after time.Duration
	}{
		"never synced": {
			func() source.TypedSource[string] { return &fakeSource{synced: make(chan error)} },
			[]string{"fake source", "2m0s", "frogs are asleep"}, context.DeadlineExceeded, 2 * time.Minute,
		},
		"cannot be synced": {
			func() source.TypedSource[string] {
				s := &fakeSource{synced: make(chan error, 1)}
				s.synced <- io.EOF
				return s
			},
			[]string{"fake source: EOF"}, io.EOF, 0,
		},
		"cannot be started": {
			func() source.TypedSource[string] {
				return &fakeSource{start: func(context.Context, queueOf) error { return io.EOF }}
			},
			[]string{"fake source: EOF"}, io.EOF, 0,
		},
		"never returns from Start while the controller waits": {
			func() source.TypedSource[string] {
				return &fakeSource{start: func(ctx context.Context, _ queueOf) error {
					time.Sleep(time.Hour)
					ended = true
					return nil
				}}
			},
			[]string{"fake source", "neither started nor gave up"}, nil, 2*time.Minute + overdue,
		},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var others sync.WaitGroup
				c := newTest(t, options{})
				c.Watch(adding("a"))
				c.Watch(tt.src())
				c.Watch(source.TypedFunc[string](func(ctx context.Context, _ queueOf) error {
					others.Go(func() { <-ctx.Done() })
					return nil
				}))
				begin := time.Now()
				err := c.Start(t.Context())
				for _, want := range append(tt.want, "test_") {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("err = %v, want one with %q", err, want)
					}
				}
				if tt.is != nil && !errors.Is(err, tt.is) {
					t.Errorf("err = %v, want a %v", err, tt.is)
				}
				if took := time.Since(begin); took != tt.after {
					t.Errorf("took %v, want %v", took, tt.after)
				}
				others.Wait()
				time.Sleep(2 * time.Hour) // lets the source that hangs come to its end
			})
		})
	}
	if !ended {
		t.Error("the source that hangs was not waited for by its own test")
	}
}

func TestStopWhileASourceSyncsIsNoError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTest(t, options{})
		c.Watch(&fakeSource{synced: make(chan error)})
		stop := run(t, c)
		synctest.Wait()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestStopLetsWorkersFinishAndLeavesTheRest(t *testing.T) {
	for name, byPriority := range map[string]bool{"priority queue": true, "plain queue": false} {
		t.Run(name, func(t *testing.T) {
			var keys []string
			for i := range 1000 {
				keys = append(keys, fmt.Sprint(i))
			}
			begun, release := make(chan string, len(keys)), make(chan struct{})
			var finished atomic.Int32
			c := newTest(t, options{
				MaxConcurrentReconciles: 3,
				UsePriorityQueue:        &byPriority,
				Reconciler: fn(func(_ context.Context, key string) (reconcile.Result, error) {
					begun <- key
					<-release
					finished.Add(1)
					return requeue(), nil
				}),
			})
			c.Watch(adding(keys...))
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- c.Start(ctx) }()
			for range 3 {
				<-begun
			}
			cancel()
			select {
			case <-ended:
				t.Fatal("Start returned while reconciliations were running")
			case <-time.After(20 * time.Millisecond):
			}
			close(release)
			if err := <-ended; err != nil {
				t.Error(err)
			}
			if n := finished.Load(); n != 3 || len(begun) != 0 {
				t.Errorf("%d reconciliations finished and %d more began, want 3 and 0", n, len(begun))
			}
		})
	}
}

func TestSourcesAddedLaterAreStartedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string)
		c := newTest(t, options{Reconciler: fn(func(_ context.Context, key string) (reconcile.Result, error) {
			got <- key
			return reconcile.Result{}, nil
		})})
		c.Watch(adding("early"))
		stop := run(t, c)
		<-got
		if err := c.Watch(adding("late")); err != nil {
			t.Fatal(err)
		}
		if key := <-got; key != "late" {
			t.Errorf("reconciled %q", key)
		}
		if err := c.Watch(&fakeSource{start: func(context.Context, queueOf) error { return io.EOF }}); !errors.Is(err, io.EOF) {
			t.Errorf("err = %v, want that of Start", err)
		}
		stop()
		if err := c.Watch(adding("too late")); err == nil {
			t.Error("a stopped controller takes a source")
		}
		if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "started before") {
			t.Errorf("second Start: err = %v", err)
		}
	})
}

func TestWarmupFillsTheQueueAndStartWorksOnIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := make(chan string, 1)
		starts := 0
		enabled := true
		c := newTest(t, options{
			EnableWarmup: &enabled,
			Reconciler: fn(func(_ context.Context, key string) (reconcile.Result, error) {
				got <- key
				return reconcile.Result{}, nil
			}),
		})
		c.Watch(source.TypedFunc[string](func(_ context.Context, q queueOf) error {
			starts++
			q.Add("a")
			return nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		if err := c.(interface{ Warmup(context.Context) error }).Warmup(ctx); err != nil {
			t.Fatal(err)
		}
		if starts != 1 || len(got) != 0 {
			t.Fatalf("after warm-up: source started %d times, %d reconciled", starts, len(got))
		}
		stop := run(t, c)
		if key := <-got; key != "a" {
			t.Errorf("reconciled %q", key)
		}
		if err := stop(); err != nil || starts != 1 {
			t.Errorf("err = %v, source started %d times", err, starts)
		}
	})
}

func TestWarmupThatIsNotEnabledDoesNothing(t *testing.T) {
	c := newTest(t, options{})
	c.Watch(source.TypedFunc[string](func(context.Context, queueOf) error {
		t.Error("source started")
		return nil
	}))
	if err := c.(interface{ Warmup(context.Context) error }).Warmup(t.Context()); err != nil {
		t.Error(err)
	}
}

// fakeManager keeps what is added to it.
type fakeManager struct {
	manager.Manager
	defaults config.Controller
	added    []manager.Runnable
	err      error
}

func (m *fakeManager) GetControllerOptions() config.Controller { return m.defaults }
func (m *fakeManager) GetLogger() logr.Logger                  { return logr.Discard() }
func (m *fakeManager) Add(r manager.Runnable) error {
	m.added = append(m.added, r)
	return m.err
}

func TestNew(t *testing.T) {
	noop := fn(func(context.Context, string) (reconcile.Result, error) { return reconcile.Result{}, nil })
	mgr := &fakeManager{}
	c, err := NewTyped("frog", mgr, options{Reconciler: noop})
	if err != nil {
		t.Fatal(err)
	}
	if len(mgr.added) != 1 || mgr.added[0] != manager.Runnable(c) {
		t.Errorf("the manager has %v", mgr.added)
	}
	if elected, ok := c.(manager.LeaderElectionRunnable); !ok || !elected.NeedLeaderElection() {
		t.Error("the controller does not wait for election by default")
	}

	if _, err := NewTyped("frog", mgr, options{Reconciler: noop}); err == nil || !strings.Contains(err.Error(), "frog is taken") {
		t.Errorf("a second controller of the same name and manager: err = %v", err)
	}
	skip := true
	if _, err := NewTyped("frog", mgr, options{Reconciler: noop, SkipNameValidation: &skip}); err != nil {
		t.Errorf("with SkipNameValidation: %v", err)
	}
	if _, err := NewTyped("frog", &fakeManager{defaults: config.Controller{SkipNameValidation: &skip}}, options{Reconciler: noop}); err != nil {
		t.Errorf("with the manager's SkipNameValidation: %v", err)
	}
	if _, err := NewTyped("frog", &fakeManager{}, options{Reconciler: noop}); err != nil {
		t.Errorf("with another manager: %v", err)
	}
	if _, err := NewTyped("toad", &fakeManager{err: io.EOF}, options{Reconciler: noop}); !errors.Is(err, io.EOF) {
		t.Errorf("err = %v, want the manager's", err)
	}

	for name, try := range map[string]func() error{
		"manager":    func() error { _, err := NewTyped("a", nil, options{Reconciler: noop}); return err },
		"Reconciler": func() error { _, err := NewTypedUnmanaged("a", options{}); return err },
		"name":       func() error { _, err := NewTypedUnmanaged("", options{Reconciler: noop}); return err },
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without a %s: err = %v", name, err)
		}
	}
}

func TestANameIsFreeAgainWhenItsControllerHasStopped(t *testing.T) {
	noop := fn(func(context.Context, string) (reconcile.Result, error) { return reconcile.Result{}, nil })
	for range 2 {
		c, err := NewTypedUnmanaged("phoenix", options{Reconciler: noop, Logger: logr.Discard()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewTypedUnmanaged("phoenix", options{Reconciler: noop}); err == nil {
			t.Error("a name that is taken is given again")
		}
		if err := run(t, c)(); err != nil {
			t.Error(err)
		}
	}
}

func TestDefaultFromConfig(t *testing.T) {
	yes, no := true, false
	defaults := config.Controller{
		SkipNameValidation: &yes, MaxConcurrentReconciles: 3, CacheSyncTimeout: time.Second, RecoverPanic: &no, NeedLeaderElection: &no,
		EnableWarmup: &yes, UsePriorityQueue: &no, ReconciliationTimeout: time.Minute,
	}
	var open options
	open.DefaultFromConfig(defaults)
	want := options{
		SkipNameValidation: &yes, MaxConcurrentReconciles: 3, CacheSyncTimeout: time.Second, RecoverPanic: &no, NeedLeaderElection: &no,
		EnableWarmup: &yes, UsePriorityQueue: &no, ReconciliationTimeout: time.Minute,
	}
	compare := cmp.Comparer(func(a, b logr.Logger) bool { return a == b })
	if diff := cmp.Diff(want, open, compare); diff != "" {
		t.Errorf("open options (-want +got):\n%s", diff)
	}
	theirs, mine := 0, 0
	defaults.OnReconciled = func(reconcile.Record) { theirs++ }
	asks, tells := options{}, options{OnReconciled: func(reconcile.Record) { mine++ }}
	for _, o := range []*options{&asks, &tells} {
		o.DefaultFromConfig(defaults)
		o.OnReconciled(reconcile.Record{})
	}
	if theirs != 1 || mine != 1 {
		t.Errorf("OnReconciled: the manager's was called %d times, the controller's own %d times", theirs, mine)
	}
	defaults.OnReconciled = nil
	set := options{
		SkipNameValidation: &no, MaxConcurrentReconciles: 1, CacheSyncTimeout: time.Hour, RecoverPanic: &yes, NeedLeaderElection: &yes,
		EnableWarmup: &no, UsePriorityQueue: &yes, ReconciliationTimeout: time.Hour,
	}
	was := set
	set.DefaultFromConfig(defaults)
	if diff := cmp.Diff(was, set, compare); diff != "" {
		t.Errorf("options that are set (-want +got):\n%s", diff)
	}
}

func TestReconcileContextHasALoggerAndAnID(t *testing.T) {
	var mu sync.Mutex
	var lines []string
	logger := funcr.NewJSON(func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}, funcr.Options{})
	got := make(chan string, 1)
	c, err := NewUnmanaged("logging", Options{
		Logger: logger,
		Reconciler: reconcile.Func(func(ctx context.Context, r reconcile.Request) (reconcile.Result, error) {
			log.FromContext(ctx).Info("hello")
			got <- string(ReconcileIDFromContext(ctx))
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		var r reconcile.Request
		r.Namespace, r.Name = "ns", "web"
		q.Add(r)
		return nil
	}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- c.Start(ctx) }()
	id := <-got
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if len(id) != 36 || id[14] != '4' {
		t.Errorf("ID %q is no UUID of version 4", id)
	}
	i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "hello") })
	if i < 0 {
		t.Fatalf("no line of the reconciler in %q", lines)
	}
	for _, want := range []string{
		`"controller":"logging"`, `"namespace":"ns"`, `"name":"web"`, `"reconcileID":"` + id + `"`,
	} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("log line %s lacks %s", lines[i], want)
		}
	}
}
