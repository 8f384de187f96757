package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/pkg/client"
)

// directObjects reads and writes without a cache.
func directObjects(cfg *rest.Config) (objects, error) {
	c, err := client.New(cfg, client.Options{})
	return ourObjects{c}, err
}

// recoveryRows measures how long it takes after a restart of the API server, on the same port and with the same data, until an
// operator reconciles what is created then. Both operators live through the same restarts.
func recoveryRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
	operon, err := operonCommand()
	if err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp("", "operon-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	plane, err := startPlane(ctx, operon, data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, plane.stop()) }()
	cfg, err := clientcmd.BuildConfigFromFlags("", plane.kubeconfig)
	if err != nil {
		return nil, err
	}
	cfg.QPS = -1
	direct, err := directObjects(cfg)
	if err != nil {
		return nil, err
	}
	flows := make([]*flow, 2)
	for i, make := range []operatorMaker{ourOperator, peerOperator} {
		if flows[i], _, err = startFlow(ctx, make, cfg, operatorSpec{}); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, flows[i].stop()) }()
	}
	if err := direct.create(ctx, flowObject("default", 0)); err != nil {
		return nil, err
	}
	if _, err := reconciledBy(ctx, flows, 0); err != nil {
		return nil, err
	}
	took := make([][]float64, 2)
	p := env.plan(4, 1)
	for round := range p.rounds() {
		round++ // the first ConfigMap is there
		if err := plane.stop(); err != nil {
			return nil, err
		}
		if plane, err = startPlane(ctx, operon, data); err != nil {
			return nil, err
		}
		asked := time.Now()
		for direct.create(ctx, flowObject("default", round)) != nil && ctx.Err() == nil {
			time.Sleep(10 * time.Millisecond)
			asked = time.Now()
		}
		at, err := reconciledBy(ctx, flows, round)
		if err != nil {
			return nil, err
		}
		for i := range took {
			took[i] = append(took[i], float64(at[i].Sub(asked)))
		}
	}
	return p.of(report.Row{
		Name: "Restart of the API server to the next reconcile", Unit: report.Nanoseconds, Ours: took[0], Peer: took[1], PeerName: "default",
		Note: "from the first write that the new API server takes; both operators live through the same restarts",
	}), nil
}

// reconciledBy returns when each of the operators has reconciled the i-th ConfigMap.
func reconciledBy(ctx context.Context, flows []*flow, i int) ([]time.Time, error) {
	at := make([]time.Time, len(flows))
	for f, flow := range flows {
		for at[f].IsZero() {
			select {
			case a := <-flow.reconciled:
				if a.index == i {
					at[f] = a.at
				}
			case err := <-flow.running.ended:
				flow.running.ended <- nil
				return nil, fmt.Errorf("a manager ended: %w", err)
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	return at, nil
}

// plane is a control plane whose data outlives it.
type plane struct {
	kubeconfig string
	process    *exec.Cmd
	input      io.Closer
}

// startPlane returns when the control plane says that it is ready.
func startPlane(ctx context.Context, operon, data string) (*plane, error) {
	p := &plane{
		kubeconfig: filepath.Join(data, "kubeconfig"),
		process:    exec.CommandContext(ctx, operon, "cluster", "--api-only", "--data-dir", filepath.Join(data, "cluster"), "--kubeconfig", filepath.Join(data, "kubeconfig"), "--stop-on-stdin-eof"),
	}
	input, err := p.process.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.input = input
	output, err := p.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.process.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(output)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.Contains(lines.Text(), "ready") {
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return p, nil
		}
	}
	return nil, fmt.Errorf("operon cluster ended: %w: %s", p.process.Wait(), strings.Join(said, "\n"))
}

// stop may be called again.
func (p *plane) stop() error {
	if p.process == nil {
		return nil
	}
	err := errors.Join(p.input.Close(), p.process.Wait())
	p.process = nil
	return err
}
