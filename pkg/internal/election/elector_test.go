package election

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

var leases = schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}

// A lease is what candidates compete for. As with an API server, an update of what was read earlier than the last change fails.
type lease struct {
	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord
	version int
	err     error // of all requests, if any
	hangs   bool  // requests take until their contexts end
	refused error // of updates, if any
	freed   int   // how often it was to be given back
}

// change does what somebody else does to the lease.
func (l *lease) change(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

// now is the record of now.
func (l *lease) now() resourcelock.LeaderElectionRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.record == nil {
		return resourcelock.LeaderElectionRecord{}
	}
	return *l.record
}

// A lock is one candidate's access to a lease.
type lock struct {
	*lease
	name   string
	read   int
	events []string
}

// reached returns an error if the lease cannot be reached.
func (l *lock) reached(ctx context.Context) error {
	l.mu.Lock()
	hangs := l.hangs
	l.mu.Unlock()
	if hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (l *lock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.reached(ctx); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, nil, l.err
	}
	if l.record == nil {
		return nil, nil, apierrors.NewNotFound(leases, "lease")
	}
	l.read = l.version
	record := *l.record
	raw, err := json.Marshal(record)
	return &record, raw, err
}

func (l *lock) Create(_ context.Context, record resourcelock.LeaderElectionRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.record != nil {
		return apierrors.NewAlreadyExists(leases, "lease")
	}
	return l.put(record)
}

func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.reached(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if record.HolderIdentity == "" {
		l.freed++
	}
	if l.refused != nil {
		return l.refused
	}
	if l.record == nil {
		return apierrors.NewNotFound(leases, "lease")
	}
	if l.read != l.version {
		return apierrors.NewConflict(leases, "lease", errors.New("changed"))
	}
	return l.put(record)
}

func (l *lock) put(record resourcelock.LeaderElectionRecord) error {
	if l.err != nil {
		return l.err
	}
	l.version++
	l.read, l.record = l.version, &record
	return nil
}

func (l *lock) RecordEvent(event string) { l.events = append(l.events, event) }
func (l *lock) Identity() string         { return l.name }
func (l *lock) Describe() string         { return "lease of " + l.name }

// A candidate is an elector that runs.
type candidate struct {
	*lock
	won, ended chan struct{}
	stop       context.CancelFunc
}

// run takes part until the test, or stop, ends it.
func (c *candidate) run(t *testing.T, elect func(context.Context)) {
	var ctx context.Context
	ctx, c.stop = context.WithCancel(t.Context())
	go func() {
		elect(ctx)
		close(c.ended)
	}()
	t.Cleanup(c.stop)
}

// start starts a candidate with the field's usual times.
func start(t *testing.T, l *lease, name string, change func(*Options)) *candidate {
	t.Helper()
	c := &candidate{lock: &lock{lease: l, name: name}, won: make(chan struct{}), ended: make(chan struct{})}
	o := Options{
		Lock: c.lock, Name: t.Name() + "/" + name, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		Won: func() { close(c.won) },
	}
	if change != nil {
		change(&o)
	}
	e, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.run(t, e.Run)
	return c
}

// leads reports what the metric says.
func (c *candidate) leads(t *testing.T) bool {
	t.Helper()
	return value(t, status.WithLabelValues(t.Name()+"/"+c.name)) == 1
}

func value(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var got dto.Metric
	if err := m.Write(&got); err != nil {
		t.Fatal(err)
	}
	return got.GetGauge().GetValue() + got.GetCounter().GetValue()
}

func TestALeaderIsFollowedWhenItsRecordHasRunOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lease{}
		first := start(t, l, "first", nil)
		<-first.won
		acquired := l.now().AcquireTime
		second := start(t, l, "second", nil)
		time.Sleep(time.Minute)
		synctest.Wait()
		if !first.leads(t) || second.leads(t) || l.now().HolderIdentity != "first" || l.now().LeaderTransitions != 0 {
			t.Fatalf("after a minute: %+v", l.now())
		}
		if l.now().AcquireTime != acquired || time.Since(l.now().RenewTime.Time) > 2*time.Second || l.now().LeaseDurationSeconds != 15 {
			t.Errorf("renewed as %+v", l.now())
		}
		first.stop()
		<-first.ended
		stopped := time.Now()
		<-second.won
		if waited := time.Since(stopped); waited < 13*time.Second || waited > 24*time.Second {
			t.Errorf("followed after %s", waited)
		}
		if first.leads(t) || !second.leads(t) || l.now().HolderIdentity != "second" || l.now().LeaderTransitions != 1 {
			t.Errorf("afterwards: %+v", l.now())
		}
		if got := strings.Join(first.events, ", "); got != "became leader, stopped leading" {
			t.Errorf("events: %s", got)
		}
	})
}

// Nobody's clock is asked but one's own, and that only for how long ago something was seen: a record that was renewed an hour
// ago, or will be in an hour, by the clock of who wrote it, lasts as long as any other.
func TestClocksOfOthersAreNotBelieved(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"an hour behind": -time.Hour, "an hour ahead": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lease{}
				renew := func() {
					at := metav1.NewTime(time.Now().Add(wrong))
					l.version++
					l.record = &resourcelock.LeaderElectionRecord{HolderIdentity: "other", LeaseDurationSeconds: 15, RenewTime: at, AcquireTime: at}
				}
				l.change(renew)
				c := start(t, l, "candidate", nil)
				for range 30 {
					time.Sleep(2 * time.Second)
					l.change(renew)
				}
				synctest.Wait()
				if c.leads(t) {
					t.Fatalf("leads beside another: %+v", l.now())
				}
				last := time.Now()
				<-c.won
				if waited := time.Since(last); waited < 15*time.Second || waited > 26*time.Second {
					t.Errorf("followed after %s", waited)
				}
			})
		})
	}
}

// Others wait for 15 s after the last renewal that they have seen.
func TestALeaderThatCannotRenewGivesUpBeforeOthersFollow(t *testing.T) {
	usual, refused := 10*time.Second, func(l *lease) { l.err = errors.New("connection refused") }
	for name, test := range map[string]struct {
		deadline time.Duration
		release  bool
		outage   func(*lease)
	}{
		"usual times":                          {deadline: usual, outage: refused},
		"a deadline near the lease's duration": {deadline: 14900 * time.Millisecond, outage: refused},
		"requests that hang":                   {deadline: usual, outage: func(l *lease) { l.hangs = true }},
		"requests that hang, and a release":    {deadline: usual, release: true, outage: func(l *lease) { l.hangs = true }},
		"updates that are refused":             {deadline: usual, release: true, outage: func(l *lease) { l.refused = errors.New("forbidden") }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lease{}
				c := start(t, l, "first", func(o *Options) { o.RenewDeadline, o.Release = test.deadline, test.release })
				<-c.won
				time.Sleep(time.Minute)
				synctest.Wait()
				renewed := l.now().RenewTime
				l.change(func() { test.outage(l) })
				<-c.ended
				if late := time.Since(renewed.Time); late < 10*time.Second || late > 15*time.Second {
					t.Errorf("it gave up %s after the last renewal", late)
				}
				if c.leads(t) {
					t.Error("the metric says that it leads")
				}
				if l.freed > 0 {
					t.Error("the lock was given back, and nobody had stopped what it protects")
				}
			})
		})
	}
}

func TestALeaderEndsWhenItSeesAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lease{}
		c := start(t, l, "first", func(o *Options) { o.Release = true })
		<-c.won
		l.change(func() {
			l.version++
			l.record = &resourcelock.LeaderElectionRecord{HolderIdentity: "thief", LeaseDurationSeconds: 15, RenewTime: metav1.Now()}
		})
		began := time.Now()
		<-c.ended
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it ended after %s", took)
		}
		if l.now().HolderIdentity != "thief" {
			t.Errorf("it has taken the lock from its successor: %+v", l.now())
		}
	})
}

func TestALeaderOutlivesAnOutageAndADeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lease{}
		c := start(t, l, "first", nil)
		<-c.won
		l.change(func() { l.err = errors.New("connection refused") })
		time.Sleep(9 * time.Second)
		l.change(func() { l.err = nil })
		time.Sleep(time.Minute)
		l.change(func() { l.record = nil })
		time.Sleep(time.Minute)
		synctest.Wait()
		select {
		case <-c.ended:
			t.Error("it has ended")
		default:
		}
		if got := l.now(); got.HolderIdentity != "first" {
			t.Errorf("the record is %+v", got)
		}
	})
}

func TestALockThatIsGivenBackIsTakenAtOnceByWhoIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lease{}
		first := start(t, l, "first", func(o *Options) { o.Release = true })
		<-first.won
		freed, watched := make(chan struct{}), make(chan struct{})
		second := start(t, l, "second", func(o *Options) {
			o.AwaitRelease = func(ctx context.Context, released func()) {
				defer close(watched)
				select {
				case <-freed:
					released()
				case <-ctx.Done():
				}
				<-ctx.Done()
			}
		})
		time.Sleep(time.Minute)
		first.stop()
		<-first.ended
		if got := l.now(); got.HolderIdentity != "" || got.LeaseDurationSeconds != 1 || got.LeaderTransitions != 0 {
			t.Errorf("given back as %+v", got)
		}
		close(freed)
		now := time.Now()
		<-second.won
		if waited := time.Since(now); waited != 0 {
			t.Errorf("taken after %s", waited)
		}
		<-watched // nobody needs to be told any more
		if l.now().LeaderTransitions != 1 {
			t.Errorf("transitions: %d", l.now().LeaderTransitions)
		}
	})
}

func TestACandidateEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &lease{err: errors.New("connection refused")}, "only", nil)
		time.Sleep(time.Minute)
		c.stop()
		<-c.ended
		if len(c.events) != 0 {
			t.Errorf("events: %s", c.events)
		}
	})
}

func TestARenewalAfterAReadIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lease{}
		c := start(t, l, "only", nil)
		<-c.won
		counter := slowPath.WithLabelValues(t.Name() + "/only")
		before := value(t, counter)
		l.change(func() { l.version++ }) // as by setting a label
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := value(t, counter) - before; got != 1 {
			t.Errorf("counted %g", got)
		}
	})
}

func TestTimesThatDoNotGoTogetherAreRefused(t *testing.T) {
	for _, tc := range []struct{ lease, renew, retry time.Duration }{
		{15, 15, 2}, {15, 2, 2}, {15, 10, 0}, {0, 0, 0}, {-1, -2, -3},
	} {
		_, err := New(Options{
			Lock: &lock{lease: &lease{}, name: "x"}, LeaseDuration: tc.lease * time.Second, RenewDeadline: tc.renew * time.Second, RetryPeriod: tc.retry * time.Second,
		})
		if err == nil || !strings.HasPrefix(err.Error(), "leader election: the ") {
			t.Errorf("%v: %v", tc, err)
		}
	}
	if _, err := New(Options{Lock: &lock{}}); err == nil || !strings.Contains(err.Error(), "identity") {
		t.Errorf("without an identity: %v", err)
	}
}
