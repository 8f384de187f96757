package controller

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/pkg/reconcile"
)

// TestAHungReconciliationIsSeen is what #798 asks for: a reconciler that blocks its worker shows in the log and
// in the metrics while it does.
func TestAHungReconciliationIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var at []time.Duration
		begin := time.Now()
		release := make(chan struct{})
		c := newTest(t, options{
			Logger: funcr.New(func(_, line string) {
				if strings.Contains(line, "Reconciliation is still running") && strings.Contains(line, `"request"="frog"`) {
					mu.Lock()
					defer mu.Unlock()
					at = append(at, time.Since(begin))
				}
			}, funcr.Options{}),
			Reconciler: fn(func(context.Context, string) (reconcile.Result, error) {
				<-release
				return reconcile.Result{}, nil
			}),
		})
		c.Watch(adding("frog"))
		stop := run(t, c)
		time.Sleep(5*time.Minute + time.Second)
		name := c.(*controller[string]).name
		if got := gathered(t, name)["workqueue_longest_running_processor_seconds{}"]; got < 300 {
			t.Errorf("the longest reconciliation takes %v s, says the metric; want 300", got)
		}
		close(release)
		synctest.Wait()
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute}, at); diff != "" {
			t.Errorf("warnings (-want +got):\n%s", diff)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// TestAHungReconciliationIsReleasedByItsTimeout is the other half of #798: with one worker, the keys behind the
// one that hangs are reconciled.
func TestAHungReconciliationIsReleasedByItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records []reconcile.Record
		c := newTest(t, options{
			ReconciliationTimeout: time.Minute,
			RateLimiter:           slow{},
			OnReconciled:          func(r reconcile.Record) { records = append(records, r) },
			Reconciler: fn(func(ctx context.Context, key string) (reconcile.Result, error) {
				if key == "hangs" {
					<-ctx.Done()
					return reconcile.Result{}, ctx.Err()
				}
				return reconcile.Result{}, nil
			}),
		})
		c.Watch(adding("hangs", "behind"))
		stop := run(t, c)
		time.Sleep(2 * time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if len(records) != 2 || !records[0].TimedOut || records[0].Took != time.Minute || records[1].Request != "behind" {
			t.Errorf("records: %+v", records)
		}
	})
}

// TestTheLogSaysWhatAControllerWaitsFor waits for a source that is never synced, with no limit.
func TestTheLogSaysWhatAControllerWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var at []time.Duration
		begin := time.Now()
		c := newTest(t, options{
			CacheSyncTimeout: -1,
			Logger: funcr.New(func(_, line string) {
				if strings.Contains(line, "Workers wait for a source") && strings.Contains(line, "fake source") {
					mu.Lock()
					defer mu.Unlock()
					at = append(at, time.Since(begin))
				}
			}, funcr.Options{}),
		})
		src := &fakeSource{synced: make(chan error)}
		c.Watch(src)
		if err := ReadyCheck(c)(nil); err != nil {
			t.Errorf("one that is not started is not ready: %v", err)
		}
		stop := run(t, c)
		time.Sleep(23 * time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if diff := cmp.Diff([]time.Duration{
			time.Second, 5 * time.Second, 21 * time.Second, 85 * time.Second, 341 * time.Second, 941 * time.Second,
		}, at); diff != "" {
			t.Errorf("reports (-want +got):\n%s", diff)
		}
		name := c.(*controller[string]).name
		if got := gathered(t, name)["operon_controller_sources_not_synced{}"]; got != 1 {
			t.Errorf("%v sources are waited for, says the metric", got)
		}
		ready := ReadyCheck(c)
		if err := ready(nil); err == nil || !strings.Contains(err.Error(), "waiting for fake source") {
			t.Errorf("ready says %v", err)
		}
		src.synced <- nil
		synctest.Wait()
		if got := gathered(t, name)["operon_controller_sources_not_synced{}"]; got != 0 {
			t.Errorf("%v sources are waited for when all are synced, says the metric", got)
		}
		if err := ready(nil); err != nil {
			t.Errorf("ready says %v", err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}
