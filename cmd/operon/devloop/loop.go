package devloop

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/operon-dev/operon/cmd/operon/deploy"
	"github.com/operon-dev/operon/cmd/operon/devloop/logview"
	"github.com/operon-dev/operon/cmd/operon/devloop/rebuild"
	"github.com/operon-dev/operon/cmd/operon/devloop/stamp"
	"github.com/operon-dev/operon/pkg/client"
)

// stepTime bounds what a cycle waits for from the cluster and the manager.
const stepTime = 30 * time.Second

// Options says what Run runs.
type Options struct {
	// Root is the project's directory, Name the project's name.
	Root, Name string
	// Kubeconfig and Context name the cluster to run against. When both are empty, the loop starts its own.
	Kubeconfig, Context string
	// Operon is the binary that runs the loop's own cluster, of Nodes simulated nodes, whose state DataDir keeps, unless it is empty.
	Operon  string
	Nodes   int
	DataDir string
	// Package is the manager's package below Root; Args are its arguments.
	Package string
	Args    []string
	// WebhookPort is where the manager serves its webhooks.
	WebhookPort int
	// Samples applies config/samples in each cycle.
	Samples bool
	// Generate writes what the generators make of the project's sources; what it finds wrong with them goes to stderr.
	Generate func(ctx context.Context, root string, stderr io.Writer) error
	// Stdout gets what the manager prints, Stderr what the loop has to say.
	Stdout, Stderr io.Writer
	// RawLogs leaves the manager's log as it is; otherwise its structured lines are made readable, in Colour or without.
	RawLogs, Colour bool

	// measured gets, in benchmarks, the times of each cycle.
	measured func(cycle *stopwatch)
}

// A loop is one call of Run.
type loop struct {
	Options
	binary     string // of the manager
	kubeconfig string // that the manager uses
	temp       string // removed at the end
	cluster    client.WithWatch
	webhooks   *webhooks // nil: the cluster cannot reach this machine
	placed     bool      // the webhooks' port is nobody else's
	overlay    string    // of a build that tells the manager of that port; empty: it need not be told
	withoutCgo []string  // a build's environment, as last decided, and what go.mod was then
	decidedFor stamp.Stamp
	builder    *rebuild.Builder
	ports      ports
	own        bool // the cluster goes away with the loop

	manager    *manager
	running    [sha256.Size]byte            // the binary that manager was started from
	told       bool                         // that the manager ended by itself
	registered bool                         // webhook configurations are on the cluster
	applied    map[string][sha256.Size]byte // the digest of what was applied last, by part of the project
}

func (l *loop) say(format string, args ...any) {
	fmt.Fprintf(l.Stderr, "operon: "+format+"\n", args...)
}

// Run runs the loop until ctx ends. It returns an error when there is nothing to run against, not when the sources are wrong.
func Run(ctx context.Context, o Options) (err error) {
	if _, err := exec.LookPath("go"); err != nil {
		return fmt.Errorf("no Go to build with: install Go and put its bin directory on PATH: %w", err)
	}
	project, err := reserve(o.Root)
	if errors.Is(err, errTaken) {
		return fmt.Errorf("another operon run is at work in %s: end it first, or let it follow what you save", o.Root)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, project.Close()) }()
	temp, err := os.MkdirTemp("", "operon-run-")
	if err != nil {
		return err
	}
	l := &loop{Options: o, temp: temp, binary: filepath.Join(o.Root, "bin", "manager"), applied: map[string][sha256.Size]byte{}}
	defer func() {
		err = errors.Join(err, l.ports.close(), os.RemoveAll(temp))
	}()

	lost, stop, err := l.connectAndCheck(ctx)
	if ctx.Err() != nil && err != nil {
		return nil // a person has thought better of it
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	defer l.end()
	l.builder = l.newBuilder()
	defer func() { l.builder.Stop() }()

	w, err := newWatcher(l.Root)
	if err != nil {
		return fmt.Errorf("watching %s: %w", l.Root, err)
	}
	defer func() { err = errors.Join(err, w.close()) }()

	for {
		built, err := l.cycle(ctx)
		if err != nil && ctx.Err() == nil {
			l.say("%v; waiting for a change", err)
		}
		if err == nil {
			l.builder.Plan(ctx) // while nobody waits
		}
		if err := l.awaitChange(ctx, w, built, lost); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// awaitChange returns when the sources differ from those that were built, or with an error when the loop is to end. It says when the
// manager ends meanwhile.
func (l *loop) awaitChange(ctx context.Context, w *watcher, built snapshot, lost <-chan struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type change struct {
		name string
		err  error
	}
	changed := make(chan change, 1)
	go func() {
		name, err := w.next(ctx, built)
		changed <- change{name, err}
	}()
	var ended <-chan struct{}
	if l.manager != nil && !l.told {
		ended = l.manager.ended
	}
	for {
		select {
		case <-ended:
			ended, l.told = nil, true
			if ctx.Err() == nil {
				l.say("%s; waiting for a change", l.manager.ending())
			}
		case <-lost:
			cancel()
			<-changed
			return errors.New("the control plane has ended: see its messages above")
		case c := <-changed:
			if c.err == nil {
				l.say("%s has changed", c.name)
			}
			return c.err
		}
	}
}

// cycle makes everything follow the sources, and returns the snapshot of those that it took.
func (l *loop) cycle(ctx context.Context) (snapshot, error) {
	watch := newStopwatch()
	before, err := takeSnapshot(l.Root)
	if err != nil {
		return nil, err
	}
	if before[l.module()] != l.decidedFor && l.decideOnCgo(ctx) {
		l.renewBuilder()
	}
	// Most often there is nothing for the compiler in what is generated.
	l.builder.Ahead(ctx)
	if err := l.Generate(ctx, l.Root, l.Stderr); err != nil {
		l.builder.Stop()
		return before, err
	}
	// What the generators wrote is not a change to come back for.
	built, err := takeSnapshot(l.Root)
	if err != nil {
		l.builder.Stop()
		return before, err
	}
	if built.code().changed(before.code(), l.Root) != "" {
		l.builder.Stop()
	}
	watch.lap("generate")
	if err := l.placeWebhooks(); err != nil {
		return built, err
	}
	digest, err := l.build(ctx)
	if err != nil {
		return built, err
	}
	watch.lap("build")
	if err := l.apply(ctx, "config/crd", deploy.Definitions); err != nil {
		return built, err
	}
	watch.lap("install")
	restarted, err := l.restart(ctx, digest, watch)
	if err != nil {
		return built, err
	}
	watch.lap("start")
	if err := l.register(ctx); err != nil {
		return built, err
	}
	watch.lap("webhooks")
	if l.Samples {
		if err := l.apply(ctx, "config/samples", "samples"); err != nil {
			return built, err
		}
		watch.lap("samples")
	}
	if restarted {
		l.say("the manager runs after %s; Ctrl-C ends it", watch)
	} else {
		l.say("up to date after %s", watch)
	}
	if l.measured != nil {
		l.measured(watch)
	}
	return built, nil
}

// restart runs the binary with the given digest, in place of the manager that runs if that came from another one.
func (l *loop) restart(ctx context.Context, digest [sha256.Size]byte, watch *stopwatch) (restarted bool, err error) {
	if l.manager.running() {
		if digest == l.running {
			return false, nil
		}
		l.manager.stop(ctx)
		watch.lap("stop")
	}
	env := []string{"KUBECONFIG=" + l.kubeconfig, "TMPDIR=" + l.temp}
	if l.webhooks == nil {
		env = append(env, enableWebhooks+"=false")
	} else if l.overlay != "" {
		env = append(env, fmt.Sprint(webhookPort, "=", l.webhooks.port))
	}
	more, said, err := l.ports.arguments(filepath.Join(l.Root, l.Package), l.Args)
	if err != nil {
		return false, err
	}
	for _, sentence := range said {
		l.say("%s", sentence)
	}
	var out log = logview.NewWriter(l.Stdout, l.Colour)
	if l.RawLogs {
		out = rawLog{l.Stdout}
	}
	l.manager, err = startManager(l.Root, l.binary, slices.Concat(l.Args, more), env, out)
	l.running, l.told = digest, false
	return err == nil, err
}

// end stops the manager and, on a cluster that stays, takes the webhooks back: nobody answers them any more.
func (l *loop) end() {
	ctx, cancel := context.WithTimeout(context.Background(), stepTime)
	defer cancel()
	if l.registered && !l.own {
		report := deploy.NewReporter(io.Discard, io.Discard, false)
		if err := deploy.NewDeployer(l.cluster, report, false).Remove(ctx, deploy.SetOf(l.Name, webhooksPart), nil); err != nil {
			l.say("the webhooks are still registered, remove them by hand: %v", err)
		}
	}
	if l.manager.running() {
		l.manager.stop(ctx)
	}
}
