package manager_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller"
)

// TestReconcilersThatMisbehave has one that panics, one that hangs until its context ends, and one that ignores
// its context, beside one that works.
func TestReconcilersThatMisbehave(t *testing.T) {
	config := realServer(t)
	ns := namespace(t, config)
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	grace := 200 * time.Millisecond
	mgr := newManager(t, config, ctrl.Options{Cache: within(ns), GracefulShutdownTimeout: &grace})
	build := func(name string, options controller.Options, r reconcilerFunc) {
		t.Helper()
		if err := ctrl.NewControllerManagedBy(mgr).Named(name).For(&corev1.ConfigMap{}).WithOptions(options).Complete(r); err != nil {
			t.Fatal(err)
		}
	}
	var panics, hangs atomic.Int64
	overPanic, overHang, ignoring := make(chan struct{}), make(chan struct{}), make(chan struct{})
	build("panics", controller.Options{}, func(_ context.Context, req ctrl.Request) (ctrl.Result, error) {
		if req.Name != "cm-0" {
			return ctrl.Result{}, nil
		}
		if panics.Add(1) <= 3 {
			panic("out of frogs")
		}
		close(overPanic)
		return ctrl.Result{}, nil
	})
	build("hangs", controller.Options{ReconciliationTimeout: 50 * time.Millisecond}, func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		if req.Name != "cm-0" {
			return ctrl.Result{}, nil
		}
		if hangs.Add(1) <= 3 {
			<-ctx.Done()
			return ctrl.Result{}, ctx.Err()
		}
		close(overHang)
		return ctrl.Result{}, nil
	})
	wake := make(chan struct{})
	ignore := sync.OnceFunc(func() { close(ignoring) })
	build("ignores", controller.Options{}, func(context.Context, ctrl.Request) (ctrl.Result, error) {
		ignore()
		<-wake
		return ctrl.Result{}, nil
	})
	follow(t, mgr, "follower")

	stop := start(mgr)
	wants(t, direct, ns, 3, 2)
	await(t, overPanic, "the reconciler that panics is called again")
	await(t, overHang, "the reconciler that hangs is called again")
	await(t, ignoring, "the third reconciler is called")
	awaitFollowed(t, direct, ns, 3)

	err = stop()
	if err == nil || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `controller "ignores"`) ||
		strings.Contains(err.Error(), "follower") {
		t.Errorf("Start returned %v, want it to say who still runs", err)
	}
	close(wake)
}

// TestStoppingWaitsForNoAnswerOfAServerThatIsSilent has requests under way, reads, writes and watches, that are
// never answered when the manager is told to stop.
func TestStoppingWaitsForNoAnswerOfAServerThatIsSilent(t *testing.T) {
	config := realServer(t)
	ns := namespace(t, config)
	w, bad := weatherOver(t, config)
	mgr := newManager(t, bad, ctrl.Options{Cache: within(ns)})
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "cm-0"}}
	waits := make(chan struct{}, 10)
	err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcilerFunc(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
		waits <- struct{}{}
		return ctrl.Result{}, mgr.GetClient().Create(ctx, cm.DeepCopy())
	}))
	if err != nil {
		t.Fatal(err)
	}
	// A list that is never answered, for a controller that waits for it.
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.Secret{}).Complete(reconcilerFunc(func(context.Context, ctrl.Request) (ctrl.Result, error) {
		return ctrl.Result{}, nil
	})); err != nil {
		t.Fatal(err)
	}
	w.turns(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost || strings.Contains(r.URL.Path, "secrets") {
			// That the client has gone is noticed only when its request has been read.
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}
		return false
	})
	stop := start(mgr)
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := direct.Create(t.Context(), cm.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-waits:
	case <-time.After(atMost):
		t.Fatal("no reconciliation")
	}
	begin := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > 25*time.Second {
		t.Errorf("stopping took %s", took)
	}
}

// TestGivingUpTheLeadershipWaitsNoLongerThanRenewDeadline has a lease that cannot be given up: the API server has
// fallen silent.
func TestGivingUpTheLeadershipWaitsNoLongerThanRenewDeadline(t *testing.T) {
	config := realServer(t)
	w, bad := weatherOver(t, config)
	lease, renew, again := 3*time.Second, 2*time.Second, 100*time.Millisecond
	mgr := newManager(t, bad, ctrl.Options{
		LeaderElection: true, LeaderElectionNamespace: namespace(t, config), LeaderElectionID: "operator",
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 &lease, RenewDeadline: &renew, RetryPeriod: &again,
	})
	stop := start(mgr)
	await(t, mgr.Elected(), "the manager leads")
	w.turns(func(_ http.ResponseWriter, r *http.Request) bool {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	})
	begin := time.Now()
	if err := stop(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took > renew+25*time.Second {
		t.Errorf("stopping took %s", took)
	}
}
