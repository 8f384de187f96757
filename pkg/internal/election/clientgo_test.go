package election

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection"
)

// startClientGo starts an elector of client-go as a candidate, with the same times.
func startClientGo(t *testing.T, l *lease, name string, release bool) *candidate {
	t.Helper()
	c := &candidate{lock: &lock{lease: l, name: name}, won: make(chan struct{}), ended: make(chan struct{})}
	e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: c.lock, Name: t.Name() + "/" + name, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		ReleaseOnCancel: release,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { close(c.won) },
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.run(t, e.Run)
	return c
}

// Replicas of an operator's version before may use client-go's electors, while those of the next one use these.
func TestElectorsOfClientGoTakePartInTheSameElection(t *testing.T) {
	for _, release := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			l := &lease{}
			ours := func(name string) *candidate {
				return start(t, l, name, func(o *Options) { o.Release = release })
			}
			theirs := func(name string) *candidate { return startClientGo(t, l, name, release) }
			leader := theirs("their first")
			<-leader.won
			for i, next := range []struct {
				name  string
				start func(string) *candidate
			}{{"our first", ours}, {"their second", theirs}, {"our second", ours}} {
				next := next.start(next.name)
				time.Sleep(time.Minute)
				select {
				case <-next.won:
					t.Fatalf("%s leads beside %s", next.name, leader.name)
				default:
				}
				if got := l.now(); got.HolderIdentity != leader.name || got.LeaderTransitions != i {
					t.Fatalf("after a minute of %s: %+v", leader.name, got)
				}
				leader.stop()
				<-leader.ended
				stopped := time.Now()
				<-next.won
				waited, least, most := time.Since(stopped), 13*time.Second, 24*time.Second
				if release {
					least, most = 0, 5*time.Second // at the next try
				}
				if waited < least || waited > most {
					t.Errorf("release %t: %s follows %s after %s", release, next.name, leader.name, waited)
				}
				leader = next
			}
			leader.stop()
			<-leader.ended
		})
	}
}
