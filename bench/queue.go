package main

import (
	"context"
	"fmt"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/reconcile"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	peerqueue "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

const queued = 1000

// queueRows adds 1,000 requests to a queue that lives on, then gets and finishes
// them all, in one goroutine.
func queueRows(_ context.Context, env *environment) ([]report.Row, error) {
	requests := make([]reconcile.Request, queued)
	for i := range requests {
		requests[i] = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("object-%04d", i)}}
	}
	ours := priorityqueue.New[reconcile.Request]("bench")
	defer ours.ShutDown()
	peer := peerqueue.New[reconcile.Request]("bench")
	defer peer.ShutDown()
	plain := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer plain.ShutDown()
	// What a controller without a priority queue has: a name makes it count, for the provider of the process.
	counting := workqueue.NewTypedRateLimitingQueueWithConfig(
		workqueue.DefaultTypedControllerRateLimiter[reconcile.Request](),
		workqueue.TypedRateLimitingQueueConfig[reconcile.Request]{Name: "bench-plain"},
	)
	defer counting.ShutDown()

	const each = 20
	p := env.plan(15, 5)
	costs, err := interleave(p,
		repeat(each, addGetDone(ours, requests)),
		repeat(each, addGetDone(peer, requests)),
		repeat(each, addGetDone(plain, requests)),
		repeat(each, addGetDone(counting, requests)),
	)
	if err != nil {
		return nil, err
	}
	const name, priority = "Queue 1,000 requests: add, get, done", "priority queue (its default)"
	const silent, silence = "client-go plain queue, no metrics", "Operon's queue counts and times every request, as controllers have it; this one of client-go's does not"
	const flat = "client-go plain queue, metrics"
	return p.of(
		report.Row{Name: name, Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[1]), PeerName: priority}.Wants(report.AtMostRatio(0.2)),
		report.Row{Name: name, Unit: report.Allocations, Ours: allocs(costs[0]), Peer: allocs(costs[1]), PeerName: priority}.Wants(report.AtMostRatio(0.2)),
		report.Row{Name: name, Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[2]), PeerName: silent, Note: silence},
		report.Row{Name: name, Unit: report.Allocations, Ours: allocs(costs[0]), Peer: allocs(costs[2]), PeerName: silent, Note: silence},
		report.Row{Name: name, Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[3]), PeerName: flat},
		report.Row{Name: name, Unit: report.Allocations, Ours: allocs(costs[0]), Peer: allocs(costs[3]), PeerName: flat},
	), nil
}

func addGetDone(q workqueue.TypedInterface[reconcile.Request], requests []reconcile.Request) func() error {
	return func() error {
		for _, request := range requests {
			q.Add(request)
		}
		for range requests {
			request, shutdown := q.Get()
			if shutdown {
				return fmt.Errorf("the queue was shut down")
			}
			q.Done(request)
		}
		return nil
	}
}
