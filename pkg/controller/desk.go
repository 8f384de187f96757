package controller

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// unusual is how long a reconciliation takes before the log says that it does; it says so again each time the
	// reconciliation has taken twice as long.
	unusual = time.Minute

	// round is how often somebody looks.
	round = 10 * time.Second
)

// desk is where a worker works: what it is at can be seen from outside.
type desk struct {
	now atomic.Pointer[record]
}

// superviseUntil logs, until ctx ends, which reconciliations take unusually long. One that hangs holds its worker,
// and where there is but one worker, its controller.
func superviseUntil(ctx context.Context, desks []desk) {
	rounds := time.NewTicker(round)
	defer rounds.Stop()
	told := make([]struct {
		of   *record
		next time.Duration
	}, len(desks))
	for {
		select {
		case <-ctx.Done():
			return
		case <-rounds.C:
		}
		for i := range desks {
			rec, t := desks[i].now.Load(), &told[i]
			if rec == nil {
				continue
			}
			if t.of != rec {
				t.of, t.next = rec, unusual
			}
			if takes := time.Since(rec.started); takes >= t.next {
				t.next *= 2
				rec.logger.Info("Reconciliation is still running, and holds its worker: a ReconciliationTimeout would end its context",
					"duration", takes, "trigger", rec.trigger().String())
			}
		}
	}
}
