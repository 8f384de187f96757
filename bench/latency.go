package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operon-dev/operon/bench/report"
)

// latencyRows measures how long it takes from an event to its reconciliation, by a default controller of ConfigMaps.
func latencyRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
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
func createLatencyRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
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
func latencyRowsOf(ctx context.Context, flows []*flow, p plan, n int, interval time.Duration, name, note string) ([]report.Row, error) {
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
				values[i][j] = append(values[i][j], report.Quantile(all, q.q))
			}
		}
	}
	var rows []report.Row
	for i, peer := range []string{"controller", "UsePriorityQueue false"}[:len(flows)-1] {
		for j, q := range quantiles {
			rows = append(rows, report.Row{
				Name: name + ", " + q.name, Unit: report.Nanoseconds, Ours: values[0][j], Peer: values[i+1][j], PeerName: peer,
				Note: fmt.Sprintf("%s; %d events a round", note, n),
			})
		}
	}
	return p.of(rows...), nil
}
