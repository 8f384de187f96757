package leaderelection

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
)

// watchedLeases answers each request for a watch with the next of its watches, or fails when there is none.
type watchedLeases struct {
	coordinationv1client.LeaseInterface
	watches []watch.Interface
	asked   []metav1.ListOptions
}

func (l *watchedLeases) Watch(_ context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	l.asked = append(l.asked, opts)
	if len(l.watches) == 0 {
		return nil, errors.New("leases is forbidden")
	}
	w := l.watches[0]
	l.watches = l.watches[1:]
	return w, nil
}

func heldBy(identity *string) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "operator"}, Spec: coordinationv1.LeaseSpec{HolderIdentity: identity}}
}

func TestReleasesAreToldAndRenewalsAreNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watch.NewFake()
		again := watch.NewFake()
		leases := &watchedLeases{watches: []watch.Interface{w, again}}
		ctx, cancel := context.WithCancel(t.Context())
		told := 0
		var running sync.WaitGroup
		running.Go(func() { NotifyReleased(ctx, leases, "operator", func() { told++ }) })

		other, nobody := "other", ""
		expect := func(want int, what string) {
			t.Helper()
			synctest.Wait()
			if told != want {
				t.Errorf("%s: told %d times, want %d", what, told, want)
			}
		}
		w.Add(heldBy(&other))
		w.Modify(heldBy(&other))
		expect(0, "held and renewed")
		w.Modify(heldBy(&nobody))
		expect(1, "given back")
		w.Modify(heldBy(&other))
		w.Delete(heldBy(&other))
		expect(2, "deleted")
		w.Error(&metav1.Status{Reason: metav1.StatusReasonExpired})
		w.Stop()
		time.Sleep(2 * shortestPause)
		again.Add(heldBy(nil))
		expect(3, "watched anew, and free by then")
		again.Stop()
		time.Sleep(10 * longestPause) // it is forbidden from now on
		cancel()
		running.Wait()
		if got := leases.asked[0].FieldSelector; got != "metadata.name=operator" {
			t.Errorf("watches %q", got)
		}
		if n := len(leases.asked); n < 10 || n > 20 {
			t.Errorf("asked %d times in ten minutes", n)
		}
	})
}
