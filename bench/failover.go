package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/operon-dev/operon/bench/report"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func init() { children["lead"] = leadInChild }

// inFailover is how many ConfigMaps the new leader finds.
const inFailover = 1000

// failoverRows measures how long nobody reconciles when a leader ends: until the first reconciliation by another manager, which
// waits for its turn. A leader either stops and gives its lease back, or it is killed, so that its lease has to run out.
func failoverRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
	cfg, err := env.config()
	if err != nil {
		return nil, err
	}
	kubeconfig, err := env.kubeconfig()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "operon-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	f := failover{cfg: cfg, kubeconfig: filepath.Join(dir, "kubeconfig")}
	if err := os.WriteFile(f.kubeconfig, kubeconfig, 0o600); err != nil {
		return nil, err
	}
	if err := fillNamespace(ctx, cfg, failoverNamespace, inFailover); err != nil {
		return nil, err
	}
	periods := fmt.Sprintf("%d ConfigMaps; a lease lasts %v, and is asked for every %v or so", inFailover, leaseDuration, retryPeriod)

	handed := env.plan(moments, 1).oneOf(2)
	costs, err := interleave(handed,
		f.contender(ctx, "operon", false, f.stop), f.contender(ctx, "peer", false, f.stop), f.contender(ctx, "operon", true, f.stop), f.contender(ctx, "peer", true, f.stop))
	if err != nil {
		return nil, err
	}
	const given = "the lease is given back; "
	rows = handed.of(
		report.Row{Name: "Leader's end to first reconcile of the next", Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[1]), PeerName: "default", Note: given + periods},
		report.Row{Name: "Leader's end to first reconcile of the next, warmed up", Unit: report.Nanoseconds, Ours: times(costs[2]), Peer: times(costs[3]), PeerName: "EnableWarmup", Note: given + periods},
	)
	killed := env.plan(2, 1)
	costs, err = interleave(killed, f.contender(ctx, "operon", false, f.kill), f.contender(ctx, "peer", false, f.kill))
	if err != nil {
		return nil, err
	}
	return append(rows, killed.of(
		report.Row{Name: "Leader killed to first reconcile of the next", Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[1]), PeerName: "default", Note: "the leader is a process that is sent SIGKILL; " + periods},
	)...), nil
}

const failoverNamespace = "failover"

// moments are how many there are, between two questions for the lease, at which a leader ends.
const moments = 6

// fillNamespace makes a namespace with n ConfigMaps.
func fillNamespace(ctx context.Context, cfg *rest.Config, namespace string, n int) error {
	direct, err := directObjects(cfg)
	if err != nil {
		return err
	}
	if err := direct.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		return err
	}
	return atOnce(n, 8, func(i int) error {
		return direct.create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("settings-%04d", i)}})
	})
}

// operatorMakers are the libraries, by the names that children know them by.
var operatorMakers = map[string]operatorMaker{"operon": ourOperator, "peer": peerOperator}

// failover has a leader end, again and again, each time with a lease of its own.
type failover struct {
	cfg        *rest.Config
	kubeconfig string
	elections  int
}

// ending makes a manager lead, and returns what ends it.
type ending func(ctx context.Context, library string, leader *leaderSpec) (end func() error, err error)

// contender makes a contender for the time between a leader's end and the first reconciliation of the next one.
func (f *failover) contender(ctx context.Context, library string, warmup bool, leads ending) contender {
	return func() (cost, error) {
		f.elections++
		took, err := f.change(ctx, library, &leaderSpec{id: fmt.Sprint("failover-", f.elections), warmup: warmup}, leads)
		if err != nil {
			return cost{}, fmt.Errorf("%s: %w", library, err)
		}
		return cost{ns: float64(took)}, nil
	}
}

func (f *failover) change(ctx context.Context, library string, leader *leaderSpec, leads ending) (took time.Duration, err error) {
	end, err := leads(ctx, library, leader)
	if err != nil {
		return 0, err
	}
	ended := false
	defer func() {
		if !ended {
			err = errors.Join(err, end())
		}
	}()
	asks := &leaseWatcher{asked: make(chan struct{})}
	cfg := rest.CopyConfig(f.cfg)
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return asks.over(next) })
	l, o, err := failoverOperator(cfg, library, leader)
	if err != nil {
		return 0, err
	}
	next := start(ctx, o.start)
	defer func() { err = errors.Join(err, next.stop()) }()
	select { // the next one has found the lease taken
	case <-asks.asked:
	case err := <-next.ended:
		next.ended <- nil
		return 0, fmt.Errorf("the next leader ended: %w", err)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	if leader.warmup { // and has filled its cache
		if err := o.objects.list(ctx, &corev1.ConfigMapList{}, failoverNamespace); err != nil {
			return 0, err
		}
	}
	// It asks again and again. The leader ends at another moment in between each time, the same ones for both libraries.
	time.Sleep(time.Duration((f.elections-1)/4%moments) * retryPeriod / moments)
	if len(l.first) > 0 {
		return 0, errors.New("two managers lead at once")
	}
	began := time.Now()
	ended = true
	if err := end(); err != nil {
		return 0, err
	}
	first, err := l.awaitFirst(ctx)
	return first.Sub(began), err
}

// failoverOperator makes a manager that is a candidate.
func failoverOperator(cfg *rest.Config, library string, leader *leaderSpec) (*launch, operator, error) {
	l := newLaunch()
	o, err := operatorMakers[library](cfg, operatorSpec{
		namespace: failoverNamespace, leader: leader, kind: &corev1.ConfigMap{},
		reconcile: func(context.Context, objects, types.NamespacedName) error {
			l.reconciled()
			return nil
		},
	})
	return l, o, err
}

// stop is the ending of a manager in this process that stops and gives the lease back.
func (f *failover) stop(ctx context.Context, library string, leader *leaderSpec) (end func() error, err error) {
	l, o, err := failoverOperator(f.cfg, library, leader)
	if err != nil {
		return nil, err
	}
	running := start(ctx, o.start)
	if _, err := l.awaitFirst(ctx); err != nil {
		return nil, errors.Join(err, running.stop())
	}
	return running.stop, nil
}

// kill is the ending of a manager in a child, which is killed.
func (f *failover) kill(ctx context.Context, library string, leader *leaderSpec) (end func() error, err error) {
	child, err := startChild(ctx, "lead", library, f.kubeconfig, leader.id)
	if err != nil {
		return nil, err
	}
	if _, err := child.awaitLine(); err != nil {
		return nil, err
	}
	return child.kill, nil
}

// leadInChild is the child's side: it says when it leads, and goes on until it is killed.
func leadInChild(ctx context.Context, args []string) error {
	if len(args) != 3 || operatorMakers[args[0]] == nil {
		return errors.New("lead: want library, kubeconfig and lease")
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", args[1])
	if err != nil {
		return err
	}
	cfg.QPS = -1
	l, o, err := failoverOperator(cfg, args[0], &leaderSpec{id: args[2]})
	if err != nil {
		return err
	}
	running := start(ctx, o.start)
	if _, err := l.awaitFirst(ctx); err != nil {
		return errors.Join(err, running.stop())
	}
	fmt.Println("leads")
	return <-running.ended
}

// leaseWatcher tells when a lease has been asked for.
type leaseWatcher struct {
	once  sync.Once
	asked chan struct{}
}

func (w *leaseWatcher) over(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(r)
		if strings.Contains(r.URL.Path, "/leases/") {
			w.once.Do(func() { close(w.asked) })
		}
		return response, err
	})
}

// roundTripper is a function that is an http.RoundTripper.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// awaitFirst returns when the first reconciliation was.
func (l *launch) awaitFirst(ctx context.Context) (time.Time, error) {
	select {
	case at := <-l.first:
		return at, nil
	case <-time.After(reconcileLimit):
		return time.Time{}, fmt.Errorf("no reconcile within %v", reconcileLimit)
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
}
