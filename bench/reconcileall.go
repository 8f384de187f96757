package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/bench/served"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// reconcileAllRows measures the start of an operator that finds ten thousand Pods: from NewManager until each of them has been
// reconciled once, by a reconciler that does nothing, in a single worker.
func reconcileAllRows(ctx context.Context, env *environment) ([]report.Row, error) {
	const pods = 10_000
	server := served.NewServer(served.Pods(pods))
	defer server.Close()
	if _, err := server.Prepare(served.Encoding{Protobuf: true}); err != nil {
		return nil, err
	}
	launchAll := func(name string, make operatorMaker, v variant) contender {
		return func() (cost, error) {
			l := newLaunch()
			var left atomic.Int64
			left.Store(pods)
			o, err := make(server.Config(), operatorSpec{
				mapper: server.Mapper(), kind: &corev1.Pod{}, variant: v,
				reconcile: func(context.Context, objects, types.NamespacedName) error {
					if left.Add(-1) == 0 {
						l.reconciled()
					}
					return nil
				},
			})
			if err != nil {
				return cost{}, err
			}
			whole, _, err := l.run(ctx, o.start)
			if err != nil {
				return cost{}, fmt.Errorf("%s, %d of %d pods to go: %w", name, left.Load(), pods, err)
			}
			return cost{ns: whole}, nil
		}
	}
	p := env.plan(3, 2)
	costs, err := interleave(p,
		launchAll("Operon", ourOperator, byDefault), launchAll("controller-runtime", peerOperator, byDefault),
		launchAll("controller-runtime with a plain queue", peerOperator, plainQueue))
	if err != nil {
		return nil, err
	}
	const name = "NewManager to all of 10,000 Pods reconciled"
	note := fmt.Sprintf("a server in this process; a manager has %v for it", reconcileLimit.Round(time.Second))
	return p.of(
		report.Row{Name: name, Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[1]), PeerName: "default", Note: note},
		report.Row{Name: name, Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[2]), PeerName: "UsePriorityQueue false", Note: note},
	), nil
}
