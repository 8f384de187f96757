package main

import (
	"context"
	"fmt"
	"io"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/pkg/controller"
	"github.com/operon-dev/operon/pkg/log/zap"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	peercontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	peerreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	peersource "sigs.k8s.io/controller-runtime/pkg/source"
)

// idle is how many requests go through a controller whose reconciler does nothing.
const idle = 1000

// noopRows measures what a controller adds to a reconciliation: the queue, the logger, the context, the record and the
// metrics. The workers take the requests as they are added. Both log as operators do, at the verbosity they have in
// production, to nowhere.
func noopRows(_ context.Context, env *environment) ([]report.Row, error) {
	names := make([]types.NamespacedName, idle)
	for i := range names {
		names[i] = types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("object-%04d", i)}
	}
	done := make(chan struct{}, idle)
	through := func(add func(types.NamespacedName)) contender {
		const each = 5
		return repeat(each, func() error {
			for _, name := range names {
				add(name)
			}
			for range names {
				<-done
			}
			return nil
		}).dividedBy(idle)
	}
	numbers := []int{1, 10, 100}
	idlers := []func(int, chan<- struct{}) (func(types.NamespacedName), func(), error){oursIdle, peerIdle(true), peerIdle(false)}
	var contenders []contender
	for _, workers := range numbers {
		for _, idler := range idlers {
			add, stop, err := idler(workers, done)
			if err != nil {
				return nil, err
			}
			defer stop()
			contenders = append(contenders, through(add))
		}
	}
	p := env.plan(9, 5)
	costs, err := interleave(p, contenders...)
	if err != nil {
		return nil, err
	}
	var rows []report.Row
	for i, workers := range numbers {
		ours, peer, plain := costs[3*i], costs[3*i+1], costs[3*i+2]
		name := fmt.Sprintf("Reconciles that do nothing, %d workers", workers)
		note := "1,000 requests are added at a time, by one goroutine"
		rows = append(rows,
			report.Row{Name: name, Unit: report.PerSecond, Ours: rates(ours), Peer: rates(peer), PeerName: "controller", Note: note}.Wants(report.AtLeastRatio(2)),
			report.Row{Name: name, Unit: report.Allocations, Ours: allocs(ours), Peer: allocs(peer), PeerName: "controller", Note: note},
			report.Row{Name: name, Unit: report.PerSecond, Ours: rates(ours), Peer: rates(plain), PeerName: "UsePriorityQueue false", Note: note},
			report.Row{Name: name, Unit: report.Allocations, Ours: allocs(ours), Peer: allocs(plain), PeerName: "UsePriorityQueue false", Note: note},
		)
	}
	return p.of(rows...), nil
}

// oursIdle runs a controller of Operon's with so many workers. add hands it a request; each reconciliation is told to done.
func oursIdle(workers int, done chan<- struct{}) (add func(types.NamespacedName), stop func(), err error) {
	c, err := controller.NewUnmanaged(fmt.Sprint("bench-noop-", workers), controller.Options{
		Logger: zap.New(zap.WriteTo(io.Discard)), MaxConcurrentReconciles: workers,
		Reconciler: reconcile.Func(func(context.Context, reconcile.Request) (reconcile.Result, error) {
			done <- struct{}{}
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		return nil, nil, err
	}
	queues := make(chan workqueue.TypedRateLimitingInterface[reconcile.Request], 1)
	err = c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queues <- q
		return nil
	}))
	if err != nil {
		return nil, nil, err
	}
	stop = inBackground(c.Start)
	queue := <-queues
	return func(name types.NamespacedName) { queue.Add(reconcile.Request{NamespacedName: name}) }, stop, nil
}

// peerIdle makes functions that are oursIdle with a controller of controller-runtime's.
func peerIdle(priorityQueue bool) func(workers int, done chan<- struct{}) (add func(types.NamespacedName), stop func(), err error) {
	return func(workers int, done chan<- struct{}) (add func(types.NamespacedName), stop func(), err error) {
		c, err := peercontroller.NewUnmanaged(fmt.Sprint("bench-noop-", workers), peercontroller.Options{
			Logger: zap.New(zap.WriteTo(io.Discard)), MaxConcurrentReconciles: workers, SkipNameValidation: ptr.To(true), UsePriorityQueue: &priorityQueue,
			Reconciler: peerreconcile.Func(func(context.Context, peerreconcile.Request) (peerreconcile.Result, error) {
				done <- struct{}{}
				return peerreconcile.Result{}, nil
			}),
		})
		if err != nil {
			return nil, nil, err
		}
		queues := make(chan workqueue.TypedRateLimitingInterface[peerreconcile.Request], 1)
		err = c.Watch(peersource.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[peerreconcile.Request]) error {
			queues <- q
			return nil
		}))
		if err != nil {
			return nil, nil, err
		}
		stop = inBackground(c.Start)
		queue := <-queues
		return func(name types.NamespacedName) { queue.Add(peerreconcile.Request{NamespacedName: name}) }, stop, nil
	}
}

// inBackground runs start until stop is called, which waits for its end.
func inBackground(start func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// It ends without an error when its context does.
		_ = start(ctx)
	}()
	return func() {
		cancel()
		<-ended
	}
}
