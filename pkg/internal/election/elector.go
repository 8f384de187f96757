package election

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// jitter is by how much of itself a candidate's pause between two tries is longer at most, so that candidates do not keep in step.
const jitter = 1.2

// Options set up an Elector. All but AwaitRelease, Won, Release and Ended are required.
type Options struct {
	// Lock is what the candidates compete for.
	Lock resourcelock.Interface
	// Name tells the election from others in metrics and logs.
	Name string

	// LeaseDuration is for how long the others leave a leader alone that does not renew its record. It counts in whole seconds.
	LeaseDuration time.Duration
	// RenewDeadline is for how long a leader tries to renew its record before it gives the leadership up.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two tries.
	RetryPeriod time.Duration

	// Release gives the lock back when Run's context ends. A lock whose leadership was lost is not given back.
	Release bool
	// Ended says, when Run's context has ended, whether what the lock protects has ended too: without that it is not given back. Nil
	// means that it always has.
	Ended func() bool
	// Won is called, once, when the elector leads. It must not block.
	Won func()
	// AwaitRelease calls its function when the lock may be free, until its context ends: the candidate then tries at once. It runs beside
	// the tries, from the time that somebody else is seen to lead.
	AwaitRelease func(ctx context.Context, released func())
}

// An Elector takes part in an election, once.
type Elector struct {
	Options

	// The record as it was last written here, or read: then raw is what was read. Its duration counts since it was seen to change.
	record  resourcelock.LeaderElectionRecord
	raw     []byte
	changed time.Time
}

// New returns an elector, or says which times do not go together.
func New(o Options) (*Elector, error) {
	switch {
	case o.Lock == nil || o.Lock.Identity() == "":
		return nil, errors.New("leader election: a lock with an identity is needed")
	case o.RetryPeriod <= 0:
		return nil, fmt.Errorf("leader election: the retry period must be longer than zero, and is %s", o.RetryPeriod)
	case o.RenewDeadline <= time.Duration(jitter*float64(o.RetryPeriod)):
		return nil, fmt.Errorf("leader election: the renew deadline of %s must be longer than %g times the retry period of %s", o.RenewDeadline, jitter, o.RetryPeriod)
	case o.LeaseDuration <= o.RenewDeadline:
		return nil, fmt.Errorf("leader election: the lease duration of %s must be longer than the renew deadline of %s", o.LeaseDuration, o.RenewDeadline)
	}
	if o.Won == nil {
		o.Won = func() {}
	}
	if o.Ended == nil {
		o.Ended = func() bool { return true }
	}
	status.WithLabelValues(o.Name).Set(0)
	return &Elector{Options: o}, nil
}

// Run takes part until ctx ends, or until the elector leads and then does not any more.
func (e *Elector) Run(ctx context.Context) {
	logger := klog.FromContext(ctx)
	logger.Info("Attempting to acquire leader lease...", "lock", e.Lock.Describe())
	if !e.acquire(ctx) {
		return
	}
	logger.Info("Successfully acquired lease", "lock", e.Lock.Describe())
	status.WithLabelValues(e.Name).Set(1)
	e.Lock.RecordEvent("became leader")
	e.Won()

	err := e.keep(ctx)
	status.WithLabelValues(e.Name).Set(0)
	if ctx.Err() == nil {
		logger.Info("Failed to renew lease", "lock", e.Lock.Describe(), "err", err)
	}
	// Who has lost the lead has stopped nothing yet that the lock protects: others are to wait until the record has run out.
	if e.Release && ctx.Err() != nil && e.Ended() {
		releasing, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.RenewDeadline)
		defer cancel()
		if err := e.release(releasing); err != nil {
			logger.Error(err, "Failed to release lease", "lock", e.Lock.Describe())
		}
	}
	e.Lock.RecordEvent("stopped leading")
}

// acquire returns true when the elector leads, false when ctx ends before.
func (e *Elector) acquire(ctx context.Context) bool {
	freed := make(chan struct{}, 1)
	var watching sync.WaitGroup
	defer watching.Wait()
	watched, stop := context.WithCancel(ctx)
	defer stop()
	await := e.AwaitRelease
	for ctx.Err() == nil {
		err := e.try(ctx)
		if err == nil {
			return true
		}
		if !errors.Is(err, errHeld) && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Failed to acquire lease", "lock", e.Lock.Describe())
		}
		if await != nil && errors.Is(err, errHeld) {
			watching.Go(func() {
				e.AwaitRelease(watched, func() {
					select {
					case freed <- struct{}{}:
					default: // a try is due already
					}
				})
			})
			await = nil
		}
		pause := time.NewTimer(e.RetryPeriod + time.Duration(rand.Float64()*jitter*float64(e.RetryPeriod)))
		select {
		case <-pause.C:
		case <-freed:
		case <-ctx.Done():
		}
		pause.Stop()
	}
	return false
}

// keep renews the record until that fails or ctx ends, and says why it failed.
func (e *Elector) keep(ctx context.Context) error {
	for {
		if err := sleep(ctx, e.RetryPeriod); err != nil {
			return err
		}
		limit := e.RenewDeadline
		if d := e.duration(); d > 0 {
			// Not longer than the others wait.
			limit = min(limit, time.Until(e.changed.Add(d)))
		}
		if err := e.renew(ctx, limit); err != nil {
			return err
		}
	}
}

// renew tries until it has renewed the record, for a time.
func (e *Elector) renew(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		err := e.try(ctx)
		if err == nil || errors.Is(err, errHeld) {
			return err
		}
		klog.FromContext(ctx).V(2).Info("Failed to renew lease, trying again", "lock", e.Lock.Describe(), "err", err)
		if sleep(ctx, e.RetryPeriod) != nil {
			return err
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errHeld is what try returns when somebody else leads.
var errHeld = errors.New("somebody else holds the lease")

// try takes or renews the record.
func (e *Elector) try(ctx context.Context) error {
	// A leader whose record has not run out needs not read it first: an update of what somebody else has changed meanwhile fails.
	if e.leads() && time.Since(e.changed) < e.duration() {
		if e.write(ctx, e.Lock.Update) == nil {
			return nil
		}
	}
	record, raw, err := e.Lock.Get(ctx)
	if apierrors.IsNotFound(err) {
		e.record, e.raw = resourcelock.LeaderElectionRecord{}, nil
		return e.write(ctx, e.Lock.Create)
	}
	if err != nil {
		return err
	}
	if !bytes.Equal(raw, e.raw) {
		e.record, e.raw, e.changed = *record, raw, time.Now()
	}
	if e.record.HolderIdentity != "" && !e.leads() && time.Since(e.changed) < e.duration() {
		return errHeld
	}
	if e.leads() {
		slowPath.WithLabelValues(e.Name).Inc()
	}
	return e.write(ctx, e.Lock.Update)
}

// leads reports whether the record that was last seen names this candidate.
func (e *Elector) leads() bool { return e.record.HolderIdentity == e.Lock.Identity() }

// duration is for how long the record counts after its last change.
func (e *Elector) duration() time.Duration {
	return time.Duration(e.record.LeaseDurationSeconds) * time.Second
}

// write makes this candidate the record's holder, or its holder for longer.
func (e *Elector) write(ctx context.Context, write func(context.Context, resourcelock.LeaderElectionRecord) error) error {
	// Before the request: the others count from when they see it, which is later.
	now := time.Now()
	next := resourcelock.LeaderElectionRecord{
		HolderIdentity:       e.Lock.Identity(),
		LeaseDurationSeconds: int(e.LeaseDuration / time.Second),
		AcquireTime:          metav1.NewTime(now),
		RenewTime:            metav1.NewTime(now),
		LeaderTransitions:    e.record.LeaderTransitions,
	}
	switch {
	case e.leads():
		next.AcquireTime = e.record.AcquireTime
	case e.raw != nil: // the lease is there, and was another's or nobody's
		next.LeaderTransitions++
	}
	if err := write(ctx, next); err != nil {
		return err
	}
	e.record, e.raw, e.changed = next, nil, now
	return nil
}

// release gives the record back, if this candidate still holds it.
func (e *Elector) release(ctx context.Context) error {
	for {
		record, _, err := e.Lock.Get(ctx)
		if apierrors.IsNotFound(err) || err == nil && record.HolderIdentity != e.Lock.Identity() {
			return nil
		}
		if err != nil {
			return err
		}
		now := metav1.Now()
		err = e.Lock.Update(ctx, resourcelock.LeaderElectionRecord{
			// The shortest that the API server takes. Without a holder it does not count.
			LeaseDurationSeconds: 1,
			AcquireTime:          now,
			RenewTime:            now,
			LeaderTransitions:    record.LeaderTransitions,
		})
		// A renewal that was cut off when ctx ended may have arrived after all.
		if !apierrors.IsConflict(err) {
			return err
		}
	}
}
