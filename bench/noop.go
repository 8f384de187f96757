package main

import (
	"context"
	"fmt"
	"io"

	"github.com/operon-dev/operon/pkg/controller"
	"github.com/operon-dev/operon/pkg/log/zap"
	"github.com/operon-dev/operon/pkg/reconcile"
	"github.com/operon-dev/operon/pkg/source"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	peercontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	peerreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
	peersource "sigs.k8s.io/controller-runtime/pkg/source"
)

// idle is how many requests go through a controller whose reconciler does nothing.
const idle = 1000

// noopRows measures what a controller adds to a reconciliation: the queue, the logger, the context, the record and the
// metrics. One worker takes the requests as they are added. Both log as operators do, at the verbosity they have in
// production, to nowhere.
func noopRows(rounds int) ([]row, error) {
	names := make([]types.NamespacedName, idle)
	for i := range names {
		names[i] = types.NamespacedName{Namespace: "default", Name: fmt.Sprintf("object-%04d", i)}
	}
	done := make(chan struct{}, idle)
	ours, stopOurs, err := oursIdle(done)
	if err != nil {
		return nil, err
	}
	defer stopOurs()
	peer, stopPeer, err := peerIdle(done)
	if err != nil {
		return nil, err
	}
	defer stopPeer()
	through := func(add func(types.NamespacedName)) func() error {
		return func() error {
			for _, name := range names {
				add(name)
			}
			for range names {
				<-done
			}
			return nil
		}
	}
	const each = 10
	costs, err := interleave(rounds, repeat(each, through(ours)), repeat(each, through(peer)))
	if err != nil {
		return nil, err
	}
	const name, peerName = "Reconcile 1,000 requests, doing nothing", "controller"
	return []row{
		row{Name: name, Unit: nanoseconds, Ours: times(costs[0]), Peer: times(costs[1]), PeerName: peerName}.wants(atMostRatio(0.5)),
		{Name: name, Unit: allocations, Ours: allocs(costs[0]), Peer: allocs(costs[1]), PeerName: peerName},
	}, nil
}

// oursIdle runs a controller of Operon's. add hands it a request; each reconciliation is told to done.
func oursIdle(done chan<- struct{}) (add func(types.NamespacedName), stop func(), err error) {
	c, err := controller.NewUnmanaged("bench-noop", controller.Options{
		Logger: zap.New(zap.WriteTo(io.Discard)),
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

// peerIdle is oursIdle with a controller of controller-runtime's.
func peerIdle(done chan<- struct{}) (add func(types.NamespacedName), stop func(), err error) {
	c, err := peercontroller.NewUnmanaged("bench-noop", peercontroller.Options{
		Logger: zap.New(zap.WriteTo(io.Discard)),
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
