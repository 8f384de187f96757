package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

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

// newServedFlow has an eventServer send the ConfigMaps.
func newServedFlow(ctx context.Context, make operatorMaker, v variant) (*flow, error) {
	server, err := newEventServer()
	if err != nil {
		return nil, err
	}
	maps := objectSet{gvk: corev1.SchemeGroupVersion.WithKind("ConfigMap"), plural: "configmaps"}
	f, _, err := startFlow(ctx, make, configFor(server.http.URL, false), operatorSpec{mapper: maps.mapper(), variant: v})
	if err != nil {
		server.close()
		return nil, err
	}
	f.close = server.close
	f.send = func(i int) error {
		frame, err := server.encode(watch.Added, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: flowName(i), UID: types.UID(flowName(i))}, Data: map[string]string{"mode": "quiet"},
		})
		if err == nil {
			server.frames <- frame
		}
		return err
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
		return o.objects.create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: flowName(i)}})
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

// latencyRows measures how long it takes from an event to its reconciliation, by a default controller of ConfigMaps.
func latencyRows(ctx context.Context, env *environment) (rows []row, err error) {
	flows := make([]*flow, 3)
	for i, contender := range []struct {
		make    operatorMaker
		variant variant
	}{{ourOperator, byDefault}, {peerOperator, byDefault}, {peerOperator, plainQueue}} {
		if flows[i], err = newServedFlow(ctx, contender.make, contender.variant); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, flows[i].stop()) }()
	}
	const note = "from a watch event's encoding in a server of this process to the reconciler's call"
	for _, load := range []struct {
		name     string
		n        int
		interval time.Duration
		plan     plan
	}{
		{"one event at a time", env.number(2000, 500), 0, env.plan(5, 3).oneOf(3)},
		// One stall of the machine is the tail of its round: the median of many short rounds is not made of stalls.
		{"1,000 events/s", 1000, time.Millisecond, env.plan(7, 3)},
	} {
		measured, err := latencyRowsOf(ctx, flows, load.plan, load.n, load.interval, "Event to reconcile, "+load.name, note)
		if err != nil {
			return nil, err
		}
		rows = append(rows, measured...)
	}
	return rows, nil
}

// createLatencyRows measures the same on the control plane, the creation of the object included.
func createLatencyRows(ctx context.Context, env *environment) (rows []row, err error) {
	cfg, err := env.config()
	if err != nil {
		return nil, err
	}
	flows := make([]*flow, 2)
	for i, make := range []operatorMaker{ourOperator, peerOperator} {
		if flows[i], err = newCreatedFlow(ctx, make, cfg, fmt.Sprint("latency-", i)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, flows[i].stop()) }()
	}
	return latencyRowsOf(ctx, flows, env.plan(3, 2), env.number(300, 100), 0, "Create to reconcile, one at a time",
		"from before the request that creates a ConfigMap on the control plane to the reconciler's call")
}

// turns are how often each flow's turn comes in a round.
const turns = 10

// latencyRowsOf measures Operon's flow, the peer's and, where there is one, that of the peer with a plain queue, in turn.
func latencyRowsOf(ctx context.Context, flows []*flow, p plan, n int, interval time.Duration, name, note string) ([]row, error) {
	quantiles := []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}}
	values := make([][][]float64, len(flows))
	for i, f := range flows { // connections and pools are made
		if _, err := f.latencies(ctx, n/10, interval); err != nil {
			return nil, err
		}
		values[i] = make([][]float64, len(quantiles))
	}
	for round := range p.rounds() {
		took := make([][]float64, len(flows))
		// In turns that are short, so that all meet the same moments of the machine.
		for turn := range turns {
			for _, i := range inTurn(round*turns+turn, len(flows)) {
				some, err := flows[i].latencies(ctx, n/turns, interval)
				if err != nil {
					return nil, err
				}
				took[i] = append(took[i], some...)
			}
		}
		for i, all := range took {
			slices.Sort(all)
			for j, q := range quantiles {
				values[i][j] = append(values[i][j], quantile(all, q.q))
			}
		}
	}
	var rows []row
	for i, peer := range []string{"controller", "UsePriorityQueue false"}[:len(flows)-1] {
		for j, q := range quantiles {
			rows = append(rows, row{
				Name: name + ", " + q.name, Unit: nanoseconds, Ours: values[0][j], Peer: values[i+1][j], PeerName: peer,
				Note: fmt.Sprintf("%s; %d events a round", note, n),
			})
		}
	}
	return p.of(rows...), nil
}
