package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/tools/leaderelection"
)

var errElectionLost = errors.New("leader election lost")

// election is a manager's taking part in a leader election.
type election struct {
	won  chan struct{} // closed when this manager leads
	lost chan struct{} // closed when it does not lead any more, though nobody told it to stop

	// awaitRelease calls a function when the lock is given back, until its context ends. nil if nobody can tell.
	awaitRelease func(context.Context, func())

	cancel  context.CancelFunc
	running sync.WaitGroup
}

// runElection takes part in the election until end is called, or the leadership is lost.
func (m *manager) runElection(base context.Context) (*election, error) {
	e := &election{won: make(chan struct{}), lost: make(chan struct{}), awaitRelease: m.awaitRelease}
	config := leaderelection.LeaderElectionConfig{
		Lock:            m.lock,
		LeaseDuration:   *m.options.LeaseDuration,
		RenewDeadline:   *m.options.RenewDeadline,
		RetryPeriod:     *m.options.RetryPeriod,
		ReleaseOnCancel: m.options.LeaderElectionReleaseOnCancel,
		Name:            m.options.LeaderElectionID,
	}
	first, err := e.newCampaign(config)
	if err != nil {
		return nil, fmt.Errorf("leader election: %w", err)
	}
	ctx, cancel := context.WithCancel(base)
	e.cancel = cancel
	recording, stopRecording := context.WithCancel(base)
	if m.lockEvents != nil {
		e.running.Go(func() { _ = m.lockEvents.Start(recording) })
	}
	e.running.Go(func() {
		defer stopRecording()
		for c := first; c.run(ctx) && ctx.Err() == nil; {
			next, err := e.newCampaign(config)
			if err != nil {
				break // which it was not with this config before
			}
			c = next
		}
		if ctx.Err() == nil {
			close(e.lost)
		}
	})
	return e, nil
}

// campaign is one elector's taking part. An elector that found the lock taken tries again every few seconds and cannot be
// told to do so earlier, so when the lock is given back another one takes its place.
type campaign struct {
	*election
	elector *leaderelection.LeaderElector

	decided   atomic.Bool   // it leads, or another takes its place
	taken     chan struct{} // holds one when somebody else has been seen to lead
	watchOver chan struct{} // closed when it leads
}

func (e *election) newCampaign(config leaderelection.LeaderElectionConfig) (*campaign, error) {
	c := &campaign{election: e, taken: make(chan struct{}, 1), watchOver: make(chan struct{})}
	config.Callbacks = leaderelection.LeaderCallbacks{
		OnStartedLeading: func(context.Context) {
			if c.decided.CompareAndSwap(false, true) {
				close(c.watchOver)
				close(e.won)
			}
		},
		OnStoppedLeading: func() {},
		OnNewLeader: func(identity string) {
			if identity == "" || identity == config.Lock.Identity() {
				return
			}
			select {
			case c.taken <- struct{}{}:
			default:
			}
		},
	}
	var err error
	c.elector, err = leaderelection.NewLeaderElector(config)
	return c, err
}

// run takes part until ctx ends, the leadership is lost, or the lock is given back and not won yet: then it returns true,
// and another campaign is to begin at once.
func (c *campaign) run(ctx context.Context) (again bool) {
	ctx, end := context.WithCancel(ctx)
	var watching sync.WaitGroup
	if c.awaitRelease != nil {
		watching.Go(func() {
			select {
			case <-c.taken:
			case <-c.watchOver:
				return
			case <-ctx.Done():
				return
			}
			watched, stop := context.WithCancel(ctx)
			defer stop()
			watching.Go(func() {
				select {
				case <-c.watchOver:
					stop()
				case <-watched.Done():
				}
			})
			c.awaitRelease(watched, func() {
				if c.decided.CompareAndSwap(false, true) {
					again = true
					end()
				}
			})
		})
	}
	c.elector.Run(ctx)
	end()
	watching.Wait()
	return again
}

// end leaves the election, giving the leadership up if the options say so, and
// waits until that is done. There may be no election.
func (e *election) end() {
	if e == nil {
		return
	}
	e.cancel()
	e.running.Wait()
}
