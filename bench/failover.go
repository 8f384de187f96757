package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// inFailover is how many ConfigMaps the new leader finds.
const inFailover = 1000

// failoverRows measures how long nobody reconciles when a leader stops and gives its lease back: from its context's end to the
// first reconciliation by the other manager.
func failoverRows(ctx context.Context, env *environment) ([]row, error) {
	cfg, err := env.config()
	if err != nil {
		return nil, err
	}
	const namespace = "failover"
	if err := fillNamespace(ctx, cfg, namespace, inFailover); err != nil {
		return nil, err
	}
	elections := 0
	failover := func(make operatorMaker, warmup bool) contender {
		return func() (cost, error) {
			elections++
			leader := &leaderSpec{id: fmt.Sprint("failover-", elections), warmup: warmup}
			took, err := changeLeader(ctx, cfg, make, leader, namespace)
			return cost{ns: took}, err
		}
	}
	costs, err := interleave(env.rounds(4, 1),
		failover(ourOperator, false), failover(peerOperator, false), failover(ourOperator, true), failover(peerOperator, true))
	if err != nil {
		return nil, err
	}
	note := fmt.Sprintf("the lease is given back; %d ConfigMaps; the periods of leader election are the defaults", inFailover)
	return []row{
		{Name: "Leader's end to first reconcile of the next", Unit: nanoseconds, Ours: times(costs[0]), Peer: times(costs[1]), PeerName: "default", Note: note},
		{Name: "Leader's end to first reconcile of the next, warmed up", Unit: nanoseconds, Ours: times(costs[2]), Peer: times(costs[3]), PeerName: "EnableWarmup", Note: note},
	}, nil
}

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

// changeLeader starts two managers, ends the one that leads, and returns when the other one reconciled first, in nanoseconds
// after that.
func changeLeader(ctx context.Context, cfg *rest.Config, make operatorMaker, leader *leaderSpec, namespace string) (took float64, err error) {
	var launches [2]*launch
	var running [2]*started
	for i := range launches {
		l := newLaunch()
		o, err := make(cfg, operatorSpec{
			namespace: namespace, leader: leader, kind: &corev1.ConfigMap{},
			reconcile: func(context.Context, objects, types.NamespacedName) error {
				l.reconciled()
				return nil
			},
		})
		if err != nil {
			return 0, err
		}
		launches[i], running[i] = l, start(ctx, o.start)
		if i == 0 {
			defer func() { running[0].cancel() }() // it ends below, unless something fails
		} else {
			defer func() { err = errors.Join(err, running[1].stop()) }()
		}
		if i == 0 {
			if _, err := l.awaitFirst(ctx); err != nil {
				return 0, err
			}
		}
	}
	// The other one has found the lease taken, and has filled its cache where it does so.
	select {
	case <-launches[1].first:
		return 0, errors.New("two managers lead at once")
	case <-time.After(1500 * time.Millisecond):
	}
	ended := time.Now()
	running[0].cancel()
	first, err := launches[1].awaitFirst(ctx)
	return float64(first.Sub(ended)), errors.Join(err, <-running[0].ended)
}

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
