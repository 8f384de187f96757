package manager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// lease is what candidates compete for.
type lease struct {
	mu      sync.Mutex
	record  *resourcelock.LeaderElectionRecord
	version int
	freed   chan struct{} // holds one when the lease has been given back
}

func newLease() *lease { return &lease{freed: make(chan struct{}, 1)} }

// awaitRelease is what tells a candidate that the lease has been given back.
func (l *lease) awaitRelease(ctx context.Context, released func()) {
	for {
		select {
		case <-l.freed:
			released()
		case <-ctx.Done():
			return
		}
	}
}

// leaseLock is one candidate's access to a lease. As with an API server, an
// update of what was read earlier fails.
type leaseLock struct {
	*lease
	identity string

	read   int
	gate   chan struct{}
	broken bool
}

func (l *lease) lock(identity string) *leaseLock {
	gate := make(chan struct{})
	close(gate)
	return &leaseLock{lease: l, identity: identity, gate: gate}
}

func (l *leaseLock) block()   { l.gate = make(chan struct{}) }
func (l *leaseLock) unblock() { close(l.gate) }

func (l *leaseLock) breakDown() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
}

func (l *leaseLock) pass(ctx context.Context) error {
	select {
	case <-l.gate:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return errors.New("connection refused")
	}
	return nil
}

func (l *leaseLock) Get(ctx context.Context) (*resourcelock.LeaderElectionRecord, []byte, error) {
	if err := l.pass(ctx); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.record == nil {
		return nil, nil, apierrors.NewNotFound(schema.GroupResource{Resource: "leases"}, "lease")
	}
	l.read = l.version
	copied := *l.record
	raw, err := json.Marshal(copied)
	return &copied, raw, err
}

func (l *leaseLock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	return l.Update(ctx, record)
}

func (l *leaseLock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	if err := l.pass(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read != l.version {
		return fmt.Errorf("conflict: read %d, is %d", l.read, l.version)
	}
	l.version++
	l.read = l.version
	l.record = &record
	if record.HolderIdentity == "" {
		select {
		case l.freed <- struct{}{}:
		default:
		}
	}
	return nil
}

func (l *leaseLock) RecordEvent(string) {}
func (l *leaseLock) Identity() string   { return l.identity }
func (l *leaseLock) Describe() string   { return "lease of " + l.identity }

func candidate(t *testing.T, lock resourcelock.Interface, release bool, runnables ...Runnable) *manager {
	t.Helper()
	m := offline(t, func(o *Options) {
		o.LeaderElection = true
		o.LeaderElectionResourceLockInterface = lock
		o.LeaderElectionReleaseOnCancel = release
	})
	mustAdd(t, m, runnables...)
	return m
}

func TestLeadershipIsHandedOver(t *testing.T) {
	for _, tc := range []struct {
		name     string
		release  bool
		told     bool
		min, max time.Duration
	}{
		{name: "after the lease has run out", min: 13 * time.Second, max: 24 * time.Second},
		{name: "after the lease has run out, although a release would be told", told: true, min: 13 * time.Second, max: 24 * time.Second},
		{name: "at the next try, when it is released", release: true, max: 5 * time.Second},
		{name: "at once, when its release is told", release: true, told: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				shared := newLease()
				d := &diary{}
				first := candidate(t, shared.lock("first"), tc.release, &noting{name: "first", diary: d})
				second := candidate(t, shared.lock("second"), tc.release, &noting{name: "second", diary: d},
					everywhere{&noting{name: "standby", diary: d}})
				if tc.told {
					first.awaitRelease, second.awaitRelease = shared.awaitRelease, shared.awaitRelease
				}
				stopFirst := started(first)
				<-first.Elected()
				stopSecond := started(second)
				time.Sleep(time.Minute)
				if isClosed(second.Elected()) {
					t.Fatal("two leaders")
				}
				if err := stopFirst(); err != nil {
					t.Error(err)
				}
				begin := time.Now()
				<-second.Elected()
				if took := time.Since(begin); took < tc.min || took > tc.max {
					t.Errorf("handed over after %s, want %s to %s", took, tc.min, tc.max)
				}
				synctest.Wait()
				if err := stopSecond(); err != nil {
					t.Error(err)
				}
				got := fmt.Sprint(d.read())
				if got != "[start first start standby end first start second end second end standby]" {
					t.Errorf("happened: %s", got)
				}
			})
		})
	}
}

func TestALeadershipThatIsStillMadeUseOfIsNotGivenBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		shared := newLease()
		over := make(chan struct{})
		first := candidate(t, shared.lock("first"), true, RunnableFunc(func(context.Context) error {
			<-over // whatever its context says
			return nil
		}))
		grace := time.Second
		first.options.GracefulShutdownTimeout = &grace
		second := candidate(t, shared.lock("second"), true)
		stopFirst := started(first)
		<-first.Elected()
		stopSecond := started(second)
		time.Sleep(time.Minute)
		if err := stopFirst(); err == nil {
			t.Error("nothing was said of the runnable that still runs")
		}
		begin := time.Now()
		<-second.Elected()
		if took := time.Since(begin); took < 12*time.Second {
			t.Errorf("another leads after %s, beside what still runs", took)
		}
		close(over)
		if err := stopSecond(); err != nil {
			t.Error(err)
		}
	})
}

// Candidates who are told at the same moment compete as ever, and those who lose wait for the next release.
func TestOneOfManyLeadsAfterARelease(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		shared := newLease()
		told := make([]chan struct{}, 5)
		candidates, stops := make([]*manager, len(told)), make([]func() error, len(told))
		for i := range candidates {
			told[i] = make(chan struct{}, 1)
			candidates[i] = candidate(t, shared.lock(fmt.Sprint("candidate-", i)), true)
			candidates[i].awaitRelease = func(ctx context.Context, released func()) {
				for {
					select {
					case <-told[i]:
						released()
					case <-ctx.Done():
						return
					}
				}
			}
		}
		inBackground := make(chan struct{})
		defer close(inBackground)
		go func() {
			for {
				select {
				case <-shared.freed:
				case <-inBackground:
					return
				}
				for i := range told {
					select {
					case told[i] <- struct{}{}:
					default:
					}
				}
			}
		}()
		for i, m := range candidates {
			stops[i] = started(m)
		}
		time.Sleep(time.Minute)
		gone := map[int]bool{}
		for range candidates {
			leader := -1
			for i, m := range candidates {
				if gone[i] || !isClosed(m.Elected()) {
					continue
				}
				if leader >= 0 {
					t.Fatalf("candidates %d and %d both lead", leader, i)
				}
				leader = i
			}
			if leader < 0 {
				t.Fatal("nobody leads")
			}
			if err := stops[leader](); err != nil {
				t.Error(err)
			}
			gone[leader] = true
			time.Sleep(5 * time.Second)
		}
	})
}

// A leader that still has to end something keeps renewing its lease meanwhile.
func TestLeadershipIsKeptUntilTheRunnablesHaveEnded(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		shared := newLease()
		d := &diary{}
		first := candidate(t, shared.lock("first"), true, &noting{name: "first", diary: d, takes: 25 * time.Second})
		second := candidate(t, shared.lock("second"), true, &noting{name: "second", diary: d})
		stopFirst := started(first)
		<-first.Elected()
		stopSecond := started(second)
		synctest.Wait()
		if err := stopFirst(); err != nil {
			t.Error(err)
		}
		<-second.Elected()
		synctest.Wait()
		if err := stopSecond(); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(d.read()); got != "[start first end first start second end second]" {
			t.Errorf("happened: %s", got)
		}
	})
}

func TestALostLeadershipEndsTheManagerAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		d := &diary{}
		lock := newLease().lock("only")
		m := candidate(t, lock, false, &noting{name: "slow", diary: d, takes: time.Hour})
		result := make(chan error)
		go func() { result <- m.Start(context.Background()) }()
		<-m.Elected()
		synctest.Wait()
		lock.breakDown()
		begin := time.Now()
		err := <-result
		if err == nil || err.Error() != "the leadership is lost" {
			t.Errorf("Start = %v", err)
		}
		if took := time.Since(begin); took > 15*time.Second {
			t.Errorf("Start returned after %s, which is later than the lease lasts", took)
		}
		time.Sleep(2 * time.Hour) // the runnable, which nobody waited for, ends
	})
}

func TestBadElectionTimesAreAnErrorOfStart(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		m := offline(t, func(o *Options) {
			o.LeaderElection = true
			o.LeaderElectionResourceLockInterface = newLease().lock("only")
			o.RenewDeadline = ptr(time.Minute)
		})
		if err := m.Start(context.Background()); err == nil {
			t.Error("Start succeeded with a deadline longer than the lease")
		}
	})
}
