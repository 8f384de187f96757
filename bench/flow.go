package main

// This file holds how one ConfigMap after the other is made, and when each was reconciled.

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/operon-dev/operon/bench/served"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// flow is an operator, and what makes one ConfigMap after the other come into being for it to reconcile.
type flow struct {
	running *started
	// send returns, unless it fails, before or after the reconciliation.
	send func(i int) error
	sent int

	reconciled chan arrival
	close      func()
}

type arrival struct {
	index int
	at    time.Time
}

const flowPrefix = "event-"

func flowName(i int) string { return fmt.Sprintf("%s%07d", flowPrefix, i) }

// flowObject is the i-th ConfigMap.
func flowObject(namespace string, i int) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: flowName(i)}}
}

// startFlow starts an operator of ConfigMaps that tells when it has reconciled one that send made.
func startFlow(ctx context.Context, make_ operatorMaker, cfg *rest.Config, spec operatorSpec) (*flow, operator, error) {
	f := &flow{reconciled: make(chan arrival, 4096), close: func() {}}
	spec.kind = &corev1.ConfigMap{}
	spec.reconcile = func(_ context.Context, _ objects, key types.NamespacedName) error {
		at := time.Now()
		if number, ours := strings.CutPrefix(key.Name, flowPrefix); ours {
			if i, err := strconv.Atoi(number); err == nil {
				f.reconciled <- arrival{i, at}
			}
		}
		return nil
	}
	o, err := make_(cfg, spec)
	if err != nil {
		return nil, operator{}, err
	}
	f.running = start(ctx, o.start)
	return f, o, nil
}

// newServedFlow has a server in this process send the ConfigMaps.
func newServedFlow(ctx context.Context, make operatorMaker, v variant) (*flow, error) {
	server, err := served.NewEventServer()
	if err != nil {
		return nil, err
	}
	maps := served.ConfigMaps(0)
	f, _, err := startFlow(ctx, make, maps.ConfigFor(server.URL()), operatorSpec{mapper: maps.Mapper(), variant: v})
	if err != nil {
		server.Close()
		return nil, err
	}
	f.close = server.Close
	f.send = func(i int) error {
		return server.Send(watch.Added, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: flowName(i), UID: types.UID(flowName(i))}, Data: map[string]string{"mode": "quiet"},
		})
	}
	return f, nil
}

// newCreatedFlow creates the ConfigMaps on the control plane, in a namespace of the flow's own.
func newCreatedFlow(ctx context.Context, make operatorMaker, cfg *rest.Config, namespace string) (*flow, error) {
	f, o, err := startFlow(ctx, make, cfg, operatorSpec{namespace: namespace})
	if err != nil {
		return nil, err
	}
	f.send = func(i int) error {
		return o.objects.create(ctx, flowObject(namespace, i))
	}
	return f, o.objects.create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
}

func (f *flow) stop() error {
	err := f.running.stop()
	f.close()
	return err
}

// latencies sends n ConfigMaps and returns how long each took to be reconciled. With no interval, the next one follows when the
// last has been reconciled.
func (f *flow) latencies(ctx context.Context, n int, interval time.Duration) ([]float64, error) {
	runtime.GC()
	first, began := f.sent, time.Now()
	sent, took := make([]time.Time, n), make([]float64, n)
	f.sent += n
	await := func() error {
		select {
		case a := <-f.reconciled:
			took[a.index-first] = float64(a.at.Sub(sent[a.index-first]))
			return nil
		case err := <-f.running.ended:
			return fmt.Errorf("the manager ended: %w", err)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for i := range n {
		if interval > 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * interval)))
		}
		sent[i] = time.Now()
		if err := f.send(first + i); err != nil {
			return nil, err
		}
		if interval == 0 {
			if err := await(); err != nil {
				return nil, err
			}
		}
	}
	if interval > 0 {
		for range n {
			if err := await(); err != nil {
				return nil, err
			}
		}
	}
	return took, nil
}
