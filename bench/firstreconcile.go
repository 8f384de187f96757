package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	operon "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/pkg/config"
	"github.com/operon-dev/operon/pkg/metrics/server"
	"github.com/operon-dev/operon/pkg/reconcile"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	peer "sigs.k8s.io/controller-runtime"
	peerconfig "sigs.k8s.io/controller-runtime/pkg/config"
	peerserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	peerreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// reconcileLimit bounds the wait for a first reconcile.
const reconcileLimit = 30 * time.Second

// launch is one life of a manager, as its reconciler and its maker see it.
type launch struct {
	began, started time.Time
	first          chan time.Time
}

func newLaunch() *launch { return &launch{began: time.Now(), first: make(chan time.Time, 1)} }

func (l *launch) reconciled() {
	select {
	case l.first <- time.Now():
	default:
	}
}

// run starts the manager, waits for its first reconcile, and stops it.
func (l *launch) run(ctx context.Context, manager func(context.Context) error) (whole, sinceStart float64, err error) {
	l.started = time.Now()
	running := start(ctx, manager)
	select {
	case at := <-l.first:
		whole, sinceStart = float64(at.Sub(l.began)), float64(at.Sub(l.started))
	case <-time.After(reconcileLimit):
		err = fmt.Errorf("no reconcile within %v", reconcileLimit)
	}
	return whole, sinceStart, errors.Join(err, running.stop())
}

// firstReconcileRows measures managers with one controller of ConfigMaps, on a
// cluster with a few of them, without metrics, probes and leader election.
func firstReconcileRows(ctx context.Context, env *environment) ([]report.Row, error) {
	cfg, err := env.config()
	if err != nil {
		return nil, err
	}
	launches := []func(context.Context, *rest.Config) (float64, float64, error){launchOurs, launchPeer}
	whole, sinceStart := make([][]float64, 2), make([][]float64, 2)
	p := env.plan(15, 5)
	for round := range p.rounds() {
		for _, i := range inTurn(round, len(launches)) {
			w, s, err := launches[i](ctx, cfg)
			if err != nil {
				return nil, fmt.Errorf("start a manager: %w", err)
			}
			whole[i], sinceStart[i] = append(whole[i], w), append(sinceStart[i], s)
		}
	}
	return p.of(
		report.Row{Name: "NewManager to first reconcile", Unit: report.Nanoseconds, Ours: whole[0], Peer: whole[1], PeerName: "default"}.Wants(report.AtMost(float64(50*time.Millisecond))),
		report.Row{Name: "Manager's Start to first reconcile", Unit: report.Nanoseconds, Ours: sinceStart[0], Peer: sinceStart[1], PeerName: "default"},
	), nil
}

func launchOurs(ctx context.Context, cfg *rest.Config) (whole, sinceStart float64, err error) {
	l := newLaunch()
	manager, err := operon.NewManager(cfg, operon.Options{
		Metrics: server.Options{BindAddress: "0"}, Controller: config.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return 0, 0, err
	}
	err = operon.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(
		reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			l.reconciled()
			return reconcile.Result{}, nil
		}))
	if err != nil {
		return 0, 0, err
	}
	return l.run(ctx, manager.Start)
}

func launchPeer(ctx context.Context, cfg *rest.Config) (whole, sinceStart float64, err error) {
	l := newLaunch()
	manager, err := peer.NewManager(cfg, peer.Options{
		Metrics: peerserver.Options{BindAddress: "0"}, Controller: peerconfig.Controller{SkipNameValidation: ptr.To(true)},
	})
	if err != nil {
		return 0, 0, err
	}
	err = peer.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Complete(
		peerreconcile.Func(func(context.Context, peerreconcile.Request) (peerreconcile.Result, error) {
			l.reconciled()
			return peerreconcile.Result{}, nil
		}))
	if err != nil {
		return 0, 0, err
	}
	return l.run(ctx, manager.Start)
}
