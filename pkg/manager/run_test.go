package manager

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/cluster"
	"github.com/operon-dev/operon/pkg/log"
)

func ptr[T any](v T) *T { return &v }

// slowCache is a cache whose filling is up to a test.
type slowCache struct {
	cache.Cache
	diary  *diary
	filled chan struct{}
}

func (c *slowCache) Start(ctx context.Context) error {
	c.diary.note("start caches")
	<-ctx.Done()
	c.diary.note("end caches")
	return nil
}

func (c *slowCache) WaitForCacheSync(ctx context.Context) bool {
	select {
	case <-c.filled:
		return true
	case <-ctx.Done():
		return false
	}
}

func TestRunnablesStartInOrderAndEndInTheOpposite(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := &diary{}
		slow := &slowCache{diary: d, filled: make(chan struct{})}
		lock := newLease().lock("a")
		m := offline(t, func(o *Options) {
			o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return slow, nil }
			o.LeaderElection, o.LeaderElectionResourceLockInterface = true, lock
		})
		lock.block()
		mustAdd(t, m,
			warming{Runnable: &noting{name: "leading", diary: d, takes: time.Second}, diary: d},
			everywhere{&noting{name: "always", diary: d, takes: time.Second}},
		)
		if err := m.servers.add(&noting{name: "server", diary: d, takes: time.Second}); err != nil {
			t.Fatal(err)
		}

		stop := started(m)
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if diff := cmp.Diff(want, d.read()); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			d.mu.Lock()
			d.entries = nil
			d.mu.Unlock()
		}
		synctest.Wait()
		if len(d.read()) == 2 && d.entries[0] == "start caches" {
			// Servers are started first, but run in goroutines of their own.
			d.entries[0], d.entries[1] = d.entries[1], d.entries[0]
		}
		expect("start server", "start caches")
		if isClosed(m.Elected()) {
			t.Error("elected before the caches have started")
		}
		close(slow.filled)
		synctest.Wait()
		if len(d.read()) == 2 && d.entries[0] == "warm up" {
			d.entries[0], d.entries[1] = d.entries[1], d.entries[0]
		}
		expect("start always", "warm up")
		if isClosed(m.Elected()) {
			t.Error("elected without the lock")
		}
		lock.unblock()
		expect("start leading")
		if !isClosed(m.Elected()) {
			t.Error("not elected with the lock")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		expect("end leading", "end always", "end caches", "end server")
	})
}

func TestTheFirstErrorOfARunnableStopsTheManagerAndIsReturned(t *testing.T) {
	fails := RunnableFunc(func(context.Context) error { return errBroken })
	for name, add := range map[string]func(*manager) error{
		"leading":    func(m *manager) error { return m.Add(fails) },
		"everywhere": func(m *manager) error { return m.Add(everywhere{fails}) },
		"server":     func(m *manager) error { return m.servers.add(fails) },
		"warm-up": func(m *manager) error {
			return m.warmup.add(fails)
		},
		"a cluster": func(m *manager) error { return m.Add(brokenCluster{m.Cluster}) },
		"added later": func(m *manager) error {
			return m.Add(everywhere{RunnableFunc(func(ctx context.Context) error {
				if err := m.Add(fails); err != nil {
					return err
				}
				<-ctx.Done()
				return nil
			})})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				d := &diary{}
				m := offline(t)
				mustAdd(t, m, everywhere{&noting{name: "other", diary: d}})
				if err := add(m); err != nil {
					t.Fatal(err)
				}
				if err := m.Start(context.Background()); err != errBroken {
					t.Errorf("Start = %v, want the runnable's error as it was", err)
				}
				if got := d.read(); len(got) == 1 {
					t.Errorf("the other runnable was not waited for: %v", got)
				}
			})
		})
	}
}

type brokenCluster struct{ cluster.Cluster }

func (brokenCluster) Start(context.Context) error { return errBroken }

func TestErrorsWhileStoppingAreLoggedAndNotReturned(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var logged diary
		m := offline(t, func(o *Options) {
			o.Logger = funcr.New(func(_, args string) { logged.note(args) }, funcr.Options{})
		})
		mustAdd(t, m,
			RunnableFunc(func(ctx context.Context) error { <-ctx.Done(); return errBroken }),
			RunnableFunc(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }),
		)
		stop := started(m)
		<-m.Elected()
		if err := stop(); err != nil {
			t.Errorf("Start = %v", err)
		}
		all := strings.Join(logged.read(), "\n")
		if !strings.Contains(all, "broken") || strings.Contains(all, "context canceled") {
			t.Errorf("logged: %s", all)
		}
	})
}

func TestARunnableThatSharesTheContextDoesNotMakeStoppingAnError(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		m := offline(t)
		mustAdd(t, m, RunnableFunc(func(context.Context) error { <-ctx.Done(); return ctx.Err() }))
		go func() {
			<-m.Elected()
			cancel()
		}()
		if err := m.Start(ctx); err != nil {
			t.Errorf("Start = %v", err)
		}
	})
}

func TestStartSaysWhatStillRunsAfterTheGracePeriod(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		m := offline(t)
		stubborn := RunnableFunc(stubborn(release))
		mustAdd(t, m, stubborn, stubborn, hasName{release})
		stop := started(m)
		<-m.Elected()
		synctest.Wait()
		begin := time.Now()
		err := stop()
		if took := time.Since(begin); took != 30*time.Second {
			t.Errorf("Start returned after %s, want the default grace period of 30s", took)
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Start = %v, want it to be context.DeadlineExceeded", err)
		}
		for _, want := range []string{"30s", "controller frogs", "stubborn", "(2 times)"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %q does not say %q", err, want)
			}
		}
		if err != nil && strings.Contains(err.Error(), "cluster") {
			t.Errorf("error %q blames the cluster, which had no time to end", err)
		}
	})
}

func stubborn(release <-chan struct{}) func(context.Context) error {
	return func(context.Context) error { <-release; return nil }
}

type hasName struct{ release <-chan struct{} }

func (h hasName) Start(context.Context) error { <-h.release; return nil }
func (hasName) String() string                { return "controller frogs" }

func TestGracePeriodOfZeroDoesNotWaitAndANegativeOneWaitsForEver(t *testing.T) {
	for _, tc := range []struct{ grace, want time.Duration }{
		{grace: 0, want: 0},
		{grace: -1, want: time.Hour},
	} {
		inBubble(t, func(t *testing.T) {
			d := &diary{}
			m := offline(t, func(o *Options) { o.GracefulShutdownTimeout = ptr(tc.grace) })
			mustAdd(t, m, &noting{name: "slow", diary: d, takes: time.Hour})
			stop := started(m)
			<-m.Elected()
			synctest.Wait()
			begin := time.Now()
			if err := stop(); err != nil {
				t.Errorf("grace %s: Start = %v", tc.grace, err)
			}
			if took := time.Since(begin); took != tc.want {
				t.Errorf("grace %s: Start took %s to return, want %s", tc.grace, took, tc.want)
			}
			time.Sleep(2 * time.Hour) // the runnable ends, waited for or not
		})
	}
}

func TestAddWhileRunningStartsAtOnceAndAfterStoppingFails(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := &diary{}
		m := offline(t)
		stop := started(m)
		<-m.Elected()
		for i, r := range []Runnable{
			&noting{name: "leading", diary: d},
			everywhere{&noting{name: "always", diary: d}},
		} {
			mustAdd(t, m, r)
			synctest.Wait()
			if got := d.read(); len(got) != i+1 {
				t.Errorf("runnable %d is not running: %v", i, got)
			}
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if err := m.Add(&noting{diary: d}); !errors.Is(err, errStopping) {
			t.Errorf("Add after the end = %v", err)
		}
	})
}

func TestStartRunsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := offline(t)
		stop := started(m)
		<-m.Elected()
		if err := m.Start(context.Background()); err == nil {
			t.Error("a second Start succeeded")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

func TestRunnablesGetTheBaseContextAndTheLogger(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		type key struct{}
		var logged diary
		m := offline(t, func(o *Options) {
			o.BaseContext = func() context.Context { return context.WithValue(context.Background(), key{}, "base") }
			o.Logger = funcr.New(func(_, args string) { logged.note(args) }, funcr.Options{})
		})
		got := make(chan any, 1)
		mustAdd(t, m, RunnableFunc(func(ctx context.Context) error {
			log.FromContext(ctx).Info("from the runnable")
			got <- ctx.Value(key{})
			return nil
		}))
		stop := started(m)
		if value := <-got; value != "base" {
			t.Errorf("value = %v", value)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(strings.Join(logged.read(), "\n"), "from the runnable") {
			t.Error("the runnable's context does not carry the manager's logger")
		}
	})
}

func TestABrokenCacheEndsTheManager(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := offline(t, func(o *Options) {
			o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) { return unfillable{}, nil }
		})
		if err := m.Start(context.Background()); err == nil || !strings.Contains(err.Error(), "was not filled") {
			t.Errorf("Start = %v", err)
		}
	})
}

// withCache is a runnable with a cache, like a cluster.
type withCache struct{ unfillable }

func (w withCache) GetCache() cache.Cache { return w.unfillable }

func TestABrokenCacheThatComesLateEndsTheManagerAsWell(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := offline(t)
		ended := make(chan error)
		go func() { ended <- m.Start(context.Background()) }()
		<-m.Elected()
		mustAdd(t, m, withCache{})
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "withCache was not filled") {
			t.Errorf("Start = %v", err)
		}
	})
}

type unfillable struct{ cache.Cache }

func (unfillable) Start(ctx context.Context) error       { <-ctx.Done(); return nil }
func (unfillable) WaitForCacheSync(context.Context) bool { return false }

// A cache that tells when it has started need not be filled for the others to go on.
func TestAnEmptyCacheDoesNotHoldUpTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := offline(t, func(o *Options) {
			o.NewCache = func(*rest.Config, cache.Options) (cache.Cache, error) {
				return neverFilled{started: make(chan struct{})}, nil
			}
		})
		stop := started(m)
		<-m.Elected()
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

type neverFilled struct {
	cache.Cache
	started chan struct{}
}

func (c neverFilled) Start(ctx context.Context) error { close(c.started); <-ctx.Done(); return nil }
func (c neverFilled) Started() <-chan struct{}        { return c.started }
func (c neverFilled) WaitForCacheSync(ctx context.Context) bool {
	<-ctx.Done()
	return false
}

func TestManyManagersRunInOneProcess(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		var stops []func() error
		d := &diary{}
		for range 5 {
			m := offline(t)
			mustAdd(t, m, &noting{name: "one", diary: d})
			stops = append(stops, started(m))
			<-m.Elected()
		}
		synctest.Wait()
		if got := d.read(); len(got) != 5 {
			t.Errorf("running: %v", got)
		}
		for _, stop := range stops {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestControllerOptionsAndLoggerAreHandedOn(t *testing.T) {
	logger := funcr.New(func(string, string) {}, funcr.Options{})
	m := offline(t, func(o *Options) {
		o.Logger = logger
		o.Controller.MaxConcurrentReconciles = 7
	})
	if got := m.GetControllerOptions().MaxConcurrentReconciles; got != 7 {
		t.Errorf("MaxConcurrentReconciles = %d", got)
	}
	if m.GetLogger() != logger {
		t.Error("GetLogger is not the logger of the options")
	}
}
