package manager_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/controller"
)

// follower writes in each ConfigMap what is wanted of it, and looks out for keys that are reconciled twice at once.
type follower struct {
	client.Client
	calls, overlaps atomic.Int64

	mu      sync.Mutex
	running map[client.ObjectKey]bool
}

func (f *follower) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	f.calls.Add(1)
	f.mu.Lock()
	if f.running == nil {
		f.running = map[client.ObjectKey]bool{}
	}
	if f.running[req.NamespacedName] {
		f.overlaps.Add(1)
	}
	f.running[req.NamespacedName] = true
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.running[req.NamespacedName] = false
	}()
	cm := &corev1.ConfigMap{}
	if err := f.Get(ctx, req.NamespacedName, cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if cm.Data["is"] == cm.Data["wanted"] {
		return ctrl.Result{}, nil
	}
	cm.Data["is"] = cm.Data["wanted"]
	return ctrl.Result{}, f.Update(ctx, cm)
}

// follow adds a controller with a follower for the ConfigMaps of a namespace.
func follow(t *testing.T, mgr ctrl.Manager, name string) *follower {
	t.Helper()
	f := &follower{Client: mgr.GetClient()}
	err := ctrl.NewControllerManagedBy(mgr).Named(name).For(&corev1.ConfigMap{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: 4}).Complete(f)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// within restricts the cache to a namespace.
func within(namespace string) cache.Options {
	return cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}}
}

// wants makes n ConfigMaps in the namespace, or changes what is wanted of them, for some rounds.
func wants(t *testing.T, c client.Client, namespace string, n, rounds int) {
	t.Helper()
	ctx := context.Background()
	for round := range rounds {
		for i := range n {
			cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("cm-", i)}}
			err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				_, err := ctrl.CreateOrUpdate(ctx, c, cm, func() error {
					if cm.Data == nil {
						cm.Data = map[string]string{}
					}
					cm.Data["wanted"] = fmt.Sprint(round)
					return nil
				})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// awaitFollowed waits until n ConfigMaps of the namespace are as wanted.
func awaitFollowed(t *testing.T, c client.Reader, namespace string, n int) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(atMost); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		var all corev1.ConfigMapList
		if err := c.List(context.Background(), &all, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		left = nil
		followed := 0
		for _, cm := range all.Items {
			switch {
			case !strings.HasPrefix(cm.Name, "cm-"):
			case cm.Data["is"] == cm.Data["wanted"]:
				followed++
			default:
				left = append(left, cm.Name)
			}
		}
		if followed == n && len(left) == 0 {
			return
		}
	}
	t.Fatalf("not reconciled within %s: %v", atMost, left)
}

// TestNothingIsLostInBadWeather has objects written to while the connection between the manager and the API
// server is bad in one way or another. When the weather is fair again everything has to be reconciled.
func TestNothingIsLostInBadWeather(t *testing.T) {
	config := realServer(t)
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const objects, rounds = 20, 4
	for name, turn := range map[string]func(t *testing.T, w *weather, stop <-chan struct{}){
		"connections are cut in the middle of a watch": cutsConnections,
		"410 Gone": saysGone,
		"429 and 5xx": func(_ *testing.T, w *weather, stop <-chan struct{}) {
			w.turns(refuses)
			<-stop
		},
		"lists are slow": listsSlowly,
		"answers to writes are lost": func(_ *testing.T, w *weather, stop <-chan struct{}) {
			w.loses(func(r *http.Request) bool { return isWrite(r) && rand.IntN(2) == 0 })
			<-stop
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			w, bad := weatherOver(t, config)
			ns := namespace(t, config)
			mgr := newManager(t, bad, ctrl.Options{Cache: within(ns)})
			f := follow(t, mgr, "follower")
			stop := start(mgr)
			await(t, mgr.Elected(), "the manager runs")
			wants(t, direct, ns, objects, 1)
			awaitFollowed(t, direct, ns, objects)

			clear := make(chan struct{})
			var turning sync.WaitGroup
			turning.Go(func() { turn(t, w, clear) })
			wants(t, direct, ns, objects, rounds)
			close(clear)
			turning.Wait()
			w.fair()
			awaitFollowed(t, direct, ns, objects)
			if n := f.overlaps.Load(); n > 0 {
				t.Errorf("%d reconciliations ran beside another one of the same object", n)
			}
			if err := stop(); err != nil {
				t.Error(err)
			}
			w.CloseClientConnections()
			w.Close()
			mgr.GetHTTPClient().CloseIdleConnections()
			// The connections to the real server are shared, and stay.
			goleak.VerifyNone(t, before, goleak.IgnoreAnyFunction("golang.org/x/net/http2.(*clientConnReadLoop).run"))
		})
	}
}

func cutsConnections(_ *testing.T, w *weather, stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(20 * time.Millisecond):
			w.CloseClientConnections()
		}
	}
}

// saysGone tells watches that what they were to begin after is gone: half of them as the answer, half of them in the stream.
func saysGone(t *testing.T, w *weather, stop <-chan struct{}) {
	var said atomic.Int64
	w.turns(func(rw http.ResponseWriter, r *http.Request) bool {
		if !isWatch(r) || isList(r) {
			return false
		}
		if said.Add(1)%2 == 0 {
			answer(rw, http.StatusGone, metav1.StatusReasonExpired, "too old resource version")
			return true
		}
		rw.Header().Set("Content-Type", "application/json")
		event := map[string]any{"type": "ERROR", "object": status(http.StatusGone, metav1.StatusReasonExpired, "too old resource version")}
		_ = json.NewEncoder(rw).Encode(event)
		return true
	})
	cutsConnections(t, w, stop)
	for deadline := time.Now().Add(atMost); said.Load() < 2; time.Sleep(300 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Errorf("410 was the answer %d times, want it in both ways", said.Load())
			return
		}
		w.CloseClientConnections()
	}
}

// listsSlowly has the watch begin anew, with a list that takes longer than all that is written.
func listsSlowly(t *testing.T, w *weather, stop <-chan struct{}) {
	var slow atomic.Int64
	w.turns(func(rw http.ResponseWriter, r *http.Request) bool {
		if isList(r) {
			slow.Add(1)
			time.Sleep(time.Second)
		} else if isWatch(r) {
			answer(rw, http.StatusGone, metav1.StatusReasonExpired, "too old resource version")
			return true
		}
		return false
	})
	w.CloseClientConnections()
	<-stop
	for deadline := time.Now().Add(atMost); slow.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("nothing was listed, so this test shows nothing")
			return
		}
	}
}

// refuses answers every third request with one of the errors of a server that has too much to do.
func refuses(w http.ResponseWriter, _ *http.Request) bool {
	switch rand.IntN(12) {
	case 0:
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "later")
	case 1:
		answer(w, http.StatusInternalServerError, metav1.StatusReasonInternalError, "broken")
	case 2:
		answer(w, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "not now")
	case 3:
		http.Error(w, "bad gateway", http.StatusBadGateway)
	default:
		return false
	}
	return true
}

// TestAWriteWhoseAnswerIsLostIsFoundDone has the API server do what is asked for, and nobody told of it. The next attempt finds out
// and changes nothing twice; reads show it as soon as the watch does, and never go back behind it.
func TestAWriteWhoseAnswerIsLostIsFoundDone(t *testing.T) {
	config := realServer(t)
	w, through := weatherOver(t, config)
	ns := namespace(t, config)
	mgr := newManager(t, through, ctrl.Options{Cache: within(ns)})
	stop := start(mgr)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	await(t, mgr.Elected(), "the manager runs")
	ctx, c := t.Context(), mgr.GetClient()
	if err := mgr.GetCache().List(ctx, &corev1.ConfigMapList{}); err != nil {
		t.Fatal(err)
	}
	lost := func(what string, write func() error) {
		t.Helper()
		w.loses(isWrite)
		if err := write(); err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
			t.Fatalf("%s: %v, want an error of the connection", what, err)
		}
		w.fair()
	}
	read := &corev1.ConfigMap{}
	shows := func(what string, condition func(error) bool) {
		t.Helper()
		for deadline := time.Now().Add(atMost); !condition(c.Get(ctx, client.ObjectKey{Namespace: ns, Name: "one"}, read)); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s is not read after %s", what, atMost)
			}
		}
	}
	one := func(step string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "one"}, Data: map[string]string{"step": step}}
	}

	lost("create", func() error { return c.Create(ctx, one("created")) })
	if err := c.Create(ctx, one("created again")); !apierrors.IsAlreadyExists(err) {
		t.Errorf("create again: %v", err)
	}
	shows("the new object", func(err error) bool { return err == nil })

	next := read.DeepCopy()
	next.Data["step"] = "updated"
	before := read.DeepCopy()
	lost("update", func() error { return c.Update(ctx, next) })
	before.Data["step"] = "updated again"
	if err := c.Update(ctx, before); !apierrors.IsConflict(err) {
		t.Errorf("update again of what was read before: %v", err)
	}
	shows("the update", func(err error) bool { return err == nil && read.Data["step"] == "updated" })

	// A write of ours after it is read at once, and the event of the lost one does not undo it.
	lost("patch", func() error {
		return c.Patch(ctx, one(""), client.RawPatch(types.MergePatchType, []byte(`{"data":{"step":"patched"}}`)))
	})
	if err := c.Patch(ctx, read, client.RawPatch(types.MergePatchType, []byte(`{"data":{"more":"yes"}}`))); err != nil {
		t.Fatal(err)
	}
	written := read.DeepCopy()
	for range 100 {
		if err := c.Get(ctx, client.ObjectKeyFromObject(written), read); err != nil || read.Data["step"] != "patched" || read.Data["more"] != "yes" {
			t.Fatalf("after an own write: %v, %v", read.Data, err)
		}
	}

	lost("delete", func() error { return c.Delete(ctx, one("")) })
	if err := c.Delete(ctx, one("")); !apierrors.IsNotFound(err) {
		t.Errorf("delete again: %v", err)
	}
	shows("the end", apierrors.IsNotFound)
}

// TestASlowListHoldsUpItsOwnControllerOnly has two controllers, of which one waits for a list that does not come.
func TestASlowListHoldsUpItsOwnControllerOnly(t *testing.T) {
	config := realServer(t)
	w, bad := weatherOver(t, config)
	release := make(chan struct{})
	w.turns(func(_ http.ResponseWriter, r *http.Request) bool {
		if isList(r) && strings.Contains(r.URL.Path, "configmaps") {
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
		return false
	})
	mgr := newManager(t, bad, ctrl.Options{})
	slow, quick := make(chan struct{}), make(chan struct{})
	signals := func(ch chan struct{}) reconcilerFunc {
		once := sync.OnceFunc(func() { close(ch) })
		return func(context.Context, ctrl.Request) (ctrl.Result, error) {
			once()
			return ctrl.Result{}, nil
		}
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(signals(slow)); err != nil {
		t.Fatal(err)
	}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.Namespace{}).Complete(signals(quick)); err != nil {
		t.Fatal(err)
	}
	stop := start(mgr)
	await(t, quick, "the controller whose list is there works")
	select {
	case <-slow:
		t.Error("a controller works whose list is not there")
	default:
	}
	close(release)
	await(t, slow, "the controller works when its list is there")
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// adder counts, in each ConfigMap, its own steps up to a number.
type adder struct {
	client.Client
	field     string
	upTo      int
	conflicts atomic.Int64
}

func (a *adder) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	cm := &corev1.ConfigMap{}
	if err := a.Get(ctx, req.NamespacedName, cm); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if cm.Data["count"] == "" || len(cm.Data[a.field]) >= a.upTo {
		return ctrl.Result{}, nil
	}
	cm.Data[a.field] += "."
	cm.Data["count"] += "."
	err := a.Update(ctx, cm)
	if apierrors.IsConflict(err) {
		a.conflicts.Add(1)
	}
	return ctrl.Result{}, err
}

// TestConflictStormsOfTwoManagersInOneProcessEnd has two managers write to the same objects, each step of
// either an update of what it has read.
func TestConflictStormsOfTwoManagersInOneProcessEnd(t *testing.T) {
	config := realServer(t)
	ns := namespace(t, config)
	direct, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const objects, steps = 5, 20
	for i := range objects {
		cm := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprint("cm-", i)},
			Data:       map[string]string{"count": "|"},
		}
		if err := direct.Create(t.Context(), cm); err != nil {
			t.Fatal(err)
		}
	}
	var adders []*adder
	var stops []func() error
	for _, field := range []string{"one", "other"} {
		mgr := newManager(t, config, ctrl.Options{Cache: within(ns)})
		a := &adder{Client: mgr.GetClient(), field: field, upTo: steps}
		adders = append(adders, a)
		err := ctrl.NewControllerManagedBy(mgr).Named("adder").For(&corev1.ConfigMap{}).
			WithOptions(controller.Options{MaxConcurrentReconciles: objects}).Complete(a)
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, start(mgr))
	}
	for deadline := time.Now().Add(atMost); ; time.Sleep(10 * time.Millisecond) {
		var all corev1.ConfigMapList
		if err := direct.List(t.Context(), &all, client.InNamespace(ns)); err != nil {
			t.Fatal(err)
		}
		done := 0
		for _, cm := range all.Items {
			if len(cm.Data["one"])+len(cm.Data["other"]) == 2*steps {
				done++
				if got := len(cm.Data["count"]) - 1; got != 2*steps {
					t.Errorf("%s: %d steps were made, and %d count", cm.Name, 2*steps, got)
				}
			}
		}
		if done == objects {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d objects are done", done, objects)
		}
	}
	for _, stop := range stops {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("conflicts: %d and %d", adders[0].conflicts.Load(), adders[1].conflicts.Load())
	if adders[0].conflicts.Load()+adders[1].conflicts.Load() == 0 {
		t.Error("there was no conflict, so this test shows nothing")
	}
}

// TestALeadershipLostInTheMiddleOfAReconciliation has the leader cut off from its lease.
func TestALeadershipLostInTheMiddleOfAReconciliation(t *testing.T) {
	config := realServer(t)
	ns := namespace(t, config)
	w, bad := weatherOver(t, config)
	lease, renew, again := 3*time.Second, 1500*time.Millisecond, 100*time.Millisecond
	var at atomic.Int64 // reconciliations under way, of all managers
	begun, endedCause := make(chan struct{}), make(chan error, 1)
	replica := func(config *rest.Config, r reconcilerFunc) ctrl.Manager {
		mgr := newManager(t, config, ctrl.Options{
			Cache:          within(ns),
			LeaderElection: true, LeaderElectionNamespace: ns, LeaderElectionID: "operator",
			LeaseDuration: &lease, RenewDeadline: &renew, RetryPeriod: &again,
		})
		err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Complete(reconcilerFunc(func(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
			if at.Add(1) > 1 {
				t.Error("two managers reconcile at once")
			}
			defer at.Add(-1)
			return r(ctx, req)
		}))
		if err != nil {
			t.Fatal(err)
		}
		return mgr
	}
	begin := sync.OnceFunc(func() { close(begun) })
	first := replica(bad, func(ctx context.Context, _ ctrl.Request) (ctrl.Result, error) {
		begin()
		<-ctx.Done()
		select {
		case endedCause <- ctx.Err():
		default:
		}
		return ctrl.Result{}, ctx.Err()
	})
	took := make(chan struct{})
	take := sync.OnceFunc(func() { close(took) })
	second := replica(config, func(context.Context, ctrl.Request) (ctrl.Result, error) {
		take()
		return ctrl.Result{}, nil
	})

	ended := make(chan error, 1)
	go func() { ended <- first.Start(t.Context()) }()
	await(t, begun, "the first replica reconciles")
	stopSecond := start(second)
	w.turns(func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/leases/") {
			return false
		}
		answer(rw, http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "no leases today")
		return true
	})
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "the leadership is lost") {
			t.Errorf("Start returned %v", err)
		}
	case <-time.After(atMost):
		t.Fatal("the manager that has lost its leadership goes on")
	}
	if err := <-endedCause; err != context.Canceled {
		t.Errorf("the context of the reconciliation ended with %v", err)
	}
	await(t, took, "the second replica reconciles")
	if err := stopSecond(); err != nil {
		t.Error(err)
	}
}
