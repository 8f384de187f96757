package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/pkg/controller/priorityqueue"
	"github.com/operon-dev/operon/pkg/reconcile"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	peerqueue "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// crowd is how many workers take from one queue at once.
const crowd = 1000

// crowdRows measures a queue to which everything is added at once while a thousand workers take from it.
func crowdRows(_ context.Context, env *environment) ([]report.Row, error) {
	requests := make([]reconcile.Request, env.number(1_000_000, 100_000))
	for i := range requests {
		requests[i] = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("object-%07d", i)}}
	}
	through := func(make func() workqueue.TypedInterface[reconcile.Request]) contender {
		return repeat(1, func() error {
			drain(make(), requests)
			return nil
		}).dividedBy(len(requests))
	}
	p := env.plan(2, 3)
	costs, err := interleave(p,
		through(func() workqueue.TypedInterface[reconcile.Request] {
			return priorityqueue.New[reconcile.Request]("bench")
		}),
		through(func() workqueue.TypedInterface[reconcile.Request] { return peerqueue.New[reconcile.Request]("bench") }),
		through(func() workqueue.TypedInterface[reconcile.Request] {
			return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		}),
	)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("Queue %d requests through %d workers, for each", len(requests), crowd)
	const priority, plain = "priority queue (its default)", "client-go plain queue"
	return p.of(
		report.Row{Name: name, Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[1]), PeerName: priority}.Wants(report.AtMostRatio(0.2)),
		report.Row{Name: name, Unit: report.Allocations, Ours: allocs(costs[0]), Peer: allocs(costs[1]), PeerName: priority}.Wants(report.AtMostRatio(0.2)),
		report.Row{Name: name, Unit: report.Nanoseconds, Ours: times(costs[0]), Peer: times(costs[2]), PeerName: plain},
		report.Row{Name: name, Unit: report.Allocations, Ours: allocs(costs[0]), Peer: allocs(costs[2]), PeerName: plain},
	), nil
}

// drain adds the requests to a queue of its own, from as many goroutines as there are processors, and returns when the
// workers have finished them all.
func drain(q workqueue.TypedInterface[reconcile.Request], requests []reconcile.Request) {
	var done, workers sync.WaitGroup
	done.Add(len(requests))
	for range crowd {
		workers.Go(func() {
			for {
				request, shutdown := q.Get()
				if shutdown {
					return
				}
				q.Done(request)
				done.Done()
			}
		})
	}
	// Adding never fails.
	_ = atOnce(len(requests), runtime.NumCPU(), func(i int) error {
		q.Add(requests[i])
		return nil
	})
	done.Wait()
	q.ShutDown()
	workers.Wait()
}
