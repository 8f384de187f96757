package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/operon-dev/operon/bench/report"
	"github.com/operon-dev/operon/pkg/envtest"
	"k8s.io/client-go/rest"
	peerenvtest "sigs.k8s.io/controller-runtime/pkg/envtest"
)

// testPlane is the environment of a test, of either library.
type testPlane interface {
	Start() (*rest.Config, error)
	Stop() error
}

// envtestRows starts and stops the control planes of tests. The peer's are the programs that "operon setup-envtest" gives it,
// since the published ones are not of this version of Kubernetes.
func envtestRows(ctx context.Context, env *environment) (rows []report.Row, err error) {
	operon, err := operonCommand()
	if err != nil {
		return nil, err
	}
	bin, err := os.MkdirTemp("", "operon-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(bin)) }()
	assets, err := exec.CommandContext(ctx, operon, "setup-envtest", "use", "--bin-dir", bin, "-p", "path").Output()
	if err != nil {
		return nil, fmt.Errorf("operon setup-envtest: %w", err)
	}
	makers := []func() testPlane{
		func() testPlane { return &envtest.Environment{ControlPlaneStartTimeout: startLimit} },
		func() testPlane {
			return &peerenvtest.Environment{BinaryAssetsDirectory: strings.TrimSpace(string(assets)), ControlPlaneStartTimeout: startLimit}
		},
		func() testPlane {
			return &envtest.Environment{Shared: true, ControlPlaneStartTimeout: startLimit}
		},
	}
	starts, stops := make([][]float64, len(makers)), make([][]float64, len(makers))
	p := env.plan(3, 2)
	for round := range p.rounds() {
		for _, i := range inTurn(round, len(makers)) {
			plane := makers[i]()
			began := time.Now()
			if _, err := plane.Start(); err != nil {
				return nil, err
			}
			started := time.Now()
			if err := plane.Stop(); err != nil {
				return nil, err
			}
			starts[i], stops[i] = append(starts[i], float64(started.Sub(began))), append(stops[i], float64(time.Since(started)))
		}
	}
	const peer = "Environment, Operon's programs"
	const programs = "the peer runs the etcd and the kube-apiserver of operon setup-envtest, since none are published of this version of Kubernetes; both install nothing"
	const shared = "the first start of all is a whole one, the others borrow what it has left running"
	return p.of(
		report.Row{Name: "envtest: Start", Unit: report.Nanoseconds, Ours: starts[0], Peer: starts[1], PeerName: peer, Note: programs}.Wants(report.AtMostRatio(0.5)),
		report.Row{Name: "envtest: Stop", Unit: report.Nanoseconds, Ours: stops[0], Peer: stops[1], PeerName: peer, Note: programs}.Wants(report.AtMost(float64(300*time.Millisecond))),
		report.Row{Name: "envtest: Start, Shared", Unit: report.Nanoseconds, Ours: starts[2], Peer: starts[1], PeerName: peer, Note: shared},
		report.Row{Name: "envtest: Stop, Shared", Unit: report.Nanoseconds, Ours: stops[2], Peer: stops[1], PeerName: peer, Note: shared},
	), nil
}
