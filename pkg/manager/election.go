package manager

import (
	"context"
	"errors"
	"sync"

	"github.com/operon-dev/operon/pkg/internal/election"
)

var errElectionLost = errors.New("the leadership is lost")

// candidacy is a manager's taking part in a leader election.
type candidacy struct {
	won  chan struct{} // closed when this manager leads
	lost chan struct{} // closed when it does not lead any more, though nobody told it to stop

	cancel  context.CancelFunc
	running sync.WaitGroup
}

// runElection takes part in the election until end is called, or the leadership is lost.
func (m *manager) runElection(base context.Context) (*candidacy, error) {
	c := &candidacy{won: make(chan struct{}), lost: make(chan struct{})}
	elector, err := election.New(election.Options{
		Lock:          m.lock,
		Name:          m.options.LeaderElectionID,
		LeaseDuration: *m.options.LeaseDuration,
		RenewDeadline: *m.options.RenewDeadline,
		RetryPeriod:   *m.options.RetryPeriod,
		Release:       m.options.LeaderElectionReleaseOnCancel,
		Ended:         m.leading.isIdle,
		Won:           func() { close(c.won) },
		AwaitRelease:  m.awaitRelease,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(base)
	c.cancel = cancel
	recording, stopRecording := context.WithCancel(base)
	if m.lockEvents != nil {
		c.running.Go(func() { _ = m.lockEvents.Start(recording) })
	}
	c.running.Go(func() {
		defer stopRecording()
		elector.Run(ctx)
		if ctx.Err() == nil {
			close(c.lost)
		}
	})
	return c, nil
}

// end leaves the election, giving the leadership up if the options say so, and
// waits until that is done. There may be no election.
func (c *candidacy) end() {
	if c == nil {
		return
	}
	c.cancel()
	c.running.Wait()
}
