package manager

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"k8s.io/client-go/tools/leaderelection"
)

var errElectionLost = errors.New("leader election lost")

// election is a manager's taking part in a leader election.
type election struct {
	won  chan struct{} // closed when this manager leads
	lost chan struct{} // closed when it does not lead any more, though nobody told it to stop

	cancel  context.CancelFunc
	running sync.WaitGroup
}

// runElection takes part in the election until end is called, or the leadership is lost.
func (m *manager) runElection(base context.Context) (*election, error) {
	e := &election{won: make(chan struct{}), lost: make(chan struct{})}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock:            m.lock,
		LeaseDuration:   *m.options.LeaseDuration,
		RenewDeadline:   *m.options.RenewDeadline,
		RetryPeriod:     *m.options.RetryPeriod,
		ReleaseOnCancel: m.options.LeaderElectionReleaseOnCancel,
		Name:            m.options.LeaderElectionID,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(e.won) },
			OnStoppedLeading: func() {},
		},
	})
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
		elector.Run(ctx)
		if ctx.Err() == nil {
			close(e.lost)
		}
	})
	return e, nil
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
