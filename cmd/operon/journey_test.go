package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A journey is what a person types from an empty directory to a resource that has converged.
type journey struct {
	name     string
	commands [][]string
	// converged is what kubectl must come to say, for the sample.
	converged []string
}

var journeys = []journey{
	{
		name: "a Memcached that runs an image",
		commands: [][]string{
			{"init", "--domain", "example.com", "--repo", "example.com/memcached-operator"},
			{"create", "api", "--group", "cache", "--version", "v1alpha1", "--kind", "Memcached", "--image", "memcached:1.6.39-alpine", "--image-container-port", "11211"},
		},
		converged: []string{"wait", "--for=condition=Available", "--timeout=60s", "memcacheds.cache.example.com/memcached-sample"},
	},
	{
		name: "an Application with webhooks",
		commands: [][]string{
			{"init", "--domain", "example.io", "--repo", "example.io/app"},
			{"create", "api", "--group", "apps", "--version", "v1alpha1", "--kind", "Application", "--resource", "--controller"},
			{"create", "webhook", "--group", "apps", "--version", "v1alpha1", "--kind", "Application", "--defaulting", "--programmatic-validation"},
		},
		converged: []string{"get", "validatingwebhookconfigurations/validating-webhook-configuration", "applications.apps.example.io/application-sample"},
	},
}

// travel makes the project in dir and runs it until its sample has converged, and returns how long that took.
func (j journey) travel(tb testing.TB, dir string) time.Duration {
	tb.Helper()
	// The workspace of this checkout, and the flags that its tests are compiled with, are not the user's.
	env := append(os.Environ(), "GOWORK=off", "PATH="+filepath.Dir(binary)+string(os.PathListSeparator)+os.Getenv("PATH"))
	began := time.Now()
	for _, args := range j.commands {
		cmd := exec.Command(binary, args...)
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("operon %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run := exec.Command(binary, "run", "--samples", "--", "--health-probe-bind-address=0")
	run.Dir, run.Env = dir, env
	said := &lockedBuffer{}
	run.Stdout, run.Stderr = said, said
	if err := run.Start(); err != nil {
		tb.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- run.Wait() }()
	defer func() {
		run.Process.Signal(os.Interrupt)
		select {
		case err := <-ended:
			if err != nil {
				tb.Errorf("operon run ended with %v\n%s", err, said)
			}
		case <-time.After(time.Minute):
			run.Process.Kill()
			tb.Errorf("operon run does not end\n%s", said)
		}
	}()

	ctx, cancel := context.WithTimeout(context.Background(), 8*time.Minute) // the first build of a project compiles client-go
	defer cancel()
	kubeconfig := filepath.Join(dir, "bin", "run.kubeconfig")
	for {
		kubectl := exec.CommandContext(ctx, binary, append([]string{"kubectl", "--kubeconfig", kubeconfig}, j.converged...)...)
		out, err := kubectl.CombinedOutput()
		if err == nil {
			return time.Since(began)
		}
		select {
		case err := <-ended:
			tb.Fatalf("operon run ended early: %v\n%s", err, said)
		case <-ctx.Done():
			tb.Fatalf("%s: %s\n%s", strings.Join(j.converged, " "), bytes.TrimSpace(out), said)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestFromNothingToConverged(t *testing.T) {
	for _, j := range journeys {
		t.Run(j.name, func(t *testing.T) { j.travel(t, t.TempDir()) })
	}
}

// BenchmarkFromNothingToConverged measures init, create api, generate, install and the sample converged under run, with Go's caches
// warm from the second round on.
func BenchmarkFromNothingToConverged(b *testing.B) {
	var seconds []float64
	for b.Loop() {
		seconds = append(seconds, journeys[0].travel(b, b.TempDir()).Seconds())
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(seconds), "s/converged")
}
