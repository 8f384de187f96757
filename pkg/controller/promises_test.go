package controller

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/leaderelection"
	"github.com/operon-dev/operon/pkg/leaderelection/fake"
	"github.com/operon-dev/operon/pkg/manager"
	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/reconcile"
)

func TestDefaultsOfAController(t *testing.T) {
	no := false
	for name, tt := range map[string]struct {
		options    options
		priorities bool
		delays     []time.Duration
	}{
		"all":                      {options{}, true, []time.Duration{5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond}},
		"without a priority queue": {options{UsePriorityQueue: &no}, false, []time.Duration{5 * time.Millisecond, 10 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			o := newTest(t, tt.options).(*controller[string]).options
			if o.MaxConcurrentReconciles != 1 || o.CacheSyncTimeout != 2*time.Minute || o.ReconciliationTimeout != 0 {
				t.Errorf("%d workers, %s for the caches, %s for a reconciliation", o.MaxConcurrentReconciles, o.CacheSyncTimeout, o.ReconciliationTimeout)
			}
			for _, want := range tt.delays {
				if got := o.RateLimiter.When("frog"); got != want {
					t.Errorf("a delay of %s, want %s", got, want)
				}
			}
			q := o.NewQueue("", o.RateLimiter)
			defer q.ShutDown()
			if _, ok := q.(priorityqueue.PriorityQueue[string]); ok != tt.priorities {
				t.Errorf("the queue is a %T", q)
			}
			if tt.priorities {
				for range 30 {
					o.RateLimiter.When("toad")
				}
				if got := o.RateLimiter.When("toad"); got != 1000*time.Second {
					t.Errorf("the longest delay is %s, want 1000 s", got)
				}
			}
		})
	}
}

func TestNewQueueIsCalledAtTheStartWithTheNameAndTheRateLimiter(t *testing.T) {
	limiter := slow{}
	var calls atomic.Int32
	o := options{RateLimiter: limiter}
	var c TypedController[string]
	o.NewQueue = func(name string, given workqueue.TypedRateLimiter[string]) workqueue.TypedRateLimitingInterface[string] {
		calls.Add(1)
		if want := c.(*controller[string]).name; name != want || given != limiter {
			t.Errorf("called with %q and %v", name, given)
		}
		return workqueue.NewTypedRateLimitingQueue(given)
	}
	got := make(chan string, 1)
	o.Reconciler = fn(func(_ context.Context, key string) (reconcile.Result, error) {
		got <- key
		return reconcile.Result{}, nil
	})
	c = newTest(t, o)
	c.Watch(adding("frog"))
	if calls.Load() != 0 {
		t.Error("the queue was made before the start")
	}
	stop := run(t, c)
	if key := <-got; key != "frog" {
		t.Errorf("reconciled %q", key)
	}
	if err := stop(); err != nil || calls.Load() != 1 {
		t.Errorf("err = %v, %d queues were made", err, calls.Load())
	}
}

func TestMaxConcurrentReconcilesIsReachedAndNotPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, most atomic.Int32
		c := newTest(t, options{
			MaxConcurrentReconciles: 3,
			Reconciler: fn(func(context.Context, string) (reconcile.Result, error) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return reconcile.Result{}, nil
			}),
		})
		c.Watch(adding("a", "b", "c", "d", "e", "f", "g"))
		stop := run(t, c)
		time.Sleep(time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if most.Load() != 3 {
			t.Errorf("%d reconciliations at a time, want 3", most.Load())
		}
	})
}

func TestAPanicIsRecoveredUnlessToldOtherwise(t *testing.T) {
	yes, no := true, false
	for name, tt := range map[string]struct {
		own, managers *bool
		recovered     bool
	}{
		"by default":                   {nil, nil, true},
		"told not to":                  {&no, nil, false},
		"the manager told not to":      {nil, &no, false},
		"the controller's own setting": {&yes, &no, true},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := NewTyped("panics", &fakeManager{defaults: config.Controller{RecoverPanic: tt.managers}}, options{
				RecoverPanic: tt.own,
				Reconciler:   fn(func(context.Context, string) (reconcile.Result, error) { panic(io.EOF) }),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if p := recover(); (p == nil) != tt.recovered {
					t.Errorf("the panic came through as %v", p)
				}
			}()
			if _, err := c.Reconcile(t.Context(), "frog"); !errors.Is(err, io.EOF) {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func TestLoggerIsTheManagersUnlessGiven(t *testing.T) {
	for name, tt := range map[string]struct {
		own  bool
		want string
	}{
		"the manager's": {false, "manager"},
		"its own":       {true, "controller"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			to := func(whose string) logr.Logger {
				return funcr.New(func(string, string) { got = append(got, whose) }, funcr.Options{})
			}
			o := options{}
			if tt.own {
				o.Logger = to("controller")
			}
			o.Reconciler = fn(func(context.Context, string) (reconcile.Result, error) { return reconcile.Result{}, nil })
			c, err := NewTyped("logs", &fakeManager{defaults: config.Controller{Logger: to("manager")}}, o)
			if err != nil {
				t.Fatal(err)
			}
			c.GetLogger().Info("hello")
			if strings.Join(got, " ") != tt.want {
				t.Errorf("logged to %v, want %s", got, tt.want)
			}
		})
	}
}

// TestWhatRunsBeforeTheElection has a manager that is not elected until later.
func TestWhatRunsBeforeTheElection(t *testing.T) {
	yes, no := true, false
	for name, tt := range map[string]struct {
		needs, warmup       *bool
		sources, reconciles bool // before the election
	}{
		"a controller waits by default":                           {nil, nil, false, false},
		"one that needs no election does not":                     {&no, nil, true, true},
		"one with a warm-up starts its sources":                   {nil, &yes, true, false},
		"a warm-up changes nothing for one that does not wait":    {&no, &yes, true, true},
		"without a warm-up, one that needs the election waits":    {&yes, &no, false, false},
		"with a warm-up, one that needs it starts its sources":    {&yes, &yes, true, false},
		"one that needs no election and no warm-up does not wait": {&no, &no, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lock, err := fake.NewResourceLock(nil, nil, leaderelection.Options{})
				if err != nil {
					t.Fatal(err)
				}
				blocked := lock.(fake.ControllableResourceLockInterface)
				blocked.BlockLeaderElection()
				mgr, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, manager.Options{
					LeaderElection: true, LeaderElectionResourceLockInterface: lock,
					Metrics: metricsserver.Options{BindAddress: "0"},
				})
				if err != nil {
					t.Fatal(err)
				}
				var started, reconciled atomic.Bool
				c, err := NewTyped("elective", mgr, options{
					NeedLeaderElection: tt.needs, EnableWarmup: tt.warmup,
					Reconciler: fn(func(context.Context, string) (reconcile.Result, error) {
						reconciled.Store(true)
						return reconcile.Result{}, nil
					}),
				})
				if err != nil {
					t.Fatal(err)
				}
				c.Watch(&fakeSource{synced: closed(), start: func(_ context.Context, q queueOf) error {
					started.Store(true)
					q.Add("frog")
					return nil
				}})
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() {
					if err := mgr.Start(ctx); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait()
				if started.Load() != tt.sources || reconciled.Load() != tt.reconciles {
					t.Errorf("before the election: sources started: %t, reconciled: %t", started.Load(), reconciled.Load())
				}
				blocked.UnblockLeaderElection()
				time.Sleep(time.Minute)
				if !reconciled.Load() {
					t.Error("not reconciled after the election")
				}
				cancel()
				running.Wait()
			})
		})
	}
}

func closed() chan error {
	ch := make(chan error)
	close(ch)
	return ch
}
