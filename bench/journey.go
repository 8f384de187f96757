package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/operon-dev/operon/bench/report"
)

// journeyRows measures what a new user waits for: from an empty directory to a resource that has converged on a control plane.
func journeyRows(ctx context.Context, env *environment) ([]report.Row, error) {
	operon, err := operonCommand()
	if err != nil {
		return nil, err
	}
	if _, err := journey(ctx, operon); err != nil { // fills Go's build cache
		return nil, err
	}
	var took []float64
	p := env.plan(1, 1)
	for range p.rounds() {
		t, err := journey(ctx, operon)
		if err != nil {
			return nil, err
		}
		took = append(took, float64(t))
	}
	return p.of(report.Row{
		Name: "operon init, create api, run: to a converged resource", Unit: report.Nanoseconds, Ours: took, PeerName: "nothing of the kind",
		Note: "a Memcached that runs an image; Go's build cache is warm",
	}.Wants(report.AtMost(float64(15 * time.Second)))), nil
}

// journey makes a project and runs it until its sample is available.
func journey(ctx context.Context, operon string) (took time.Duration, err error) {
	dir, err := os.MkdirTemp("", "operon-bench-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	// The workspace of this checkout, and the flags that it is built with, are not the user's.
	environment := append(os.Environ(), "GOWORK=off", "GOFLAGS=", "PATH="+filepath.Dir(operon)+string(os.PathListSeparator)+os.Getenv("PATH"))
	command := func(args ...string) *exec.Cmd {
		c := exec.CommandContext(ctx, operon, args...)
		c.Dir, c.Env = dir, environment
		return c
	}
	began := time.Now()
	for _, line := range []string{
		"init --domain example.com --repo example.com/memcached-operator",
		"create api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6.39-alpine --image-container-port 11211",
	} {
		if out, err := command(strings.Fields(line)...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("operon %s: %w: %s", line, err, out)
		}
	}
	run := command("run", "--samples", "--", "--health-probe-bind-address=0")
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	var said bytes.Buffer
	run.Stdout, run.Stderr = &said, &said
	if err := run.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	for {
		wait := command("kubectl", "--kubeconfig", filepath.Join(dir, "bin", "run.kubeconfig"),
			"wait", "--for=condition=Available", "--timeout=60s", "memcacheds.cache.example.com/memcached-sample")
		if wait.Run() == nil {
			break
		}
		select {
		case err := <-ended:
			return 0, fmt.Errorf("operon run: %w: %s", err, said.Bytes())
		case <-time.After(100 * time.Millisecond):
		}
	}
	took = time.Since(began)
	return took, errors.Join(run.Process.Signal(os.Interrupt), <-ended)
}
