package devloop

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operon-dev/operon/cmd/operon/deploy"
	"github.com/operon-dev/operon/cmd/operon/devloop/logview"
	"github.com/operon-dev/operon/cmd/operon/devloop/rebuild"
	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
	"github.com/operon-dev/operon/internal/gobuild"
	"github.com/operon-dev/operon/pkg/client"
)

// stepTime bounds what a cycle waits for from the cluster and the manager.
const stepTime = 30 * time.Second

// enableWebhooks is the variable by which the field's scaffolds tell a manager to do without webhooks.
const enableWebhooks = "ENABLE_WEBHOOKS"

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
	overlaid   bool      // the manager is told of that port
	builder    *rebuild.Builder
	ports      ports
	own        bool // the cluster goes away with the loop

	manager *manager
	running [sha256.Size]byte // the binary that manager was started from
	told    bool              // that the manager ended by itself
	// Registered is whether webhook configurations are on the cluster.
	registered bool
	// Applied holds, by set, the digest of what was applied last.
	applied map[string][sha256.Size]byte
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
	l.builder = l.newBuilder("")
	defer func() {
		l.builder.Stop()
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

// connectAndCheck connects, and returns an error as well where settings of a person's own, which no saved file changes, keep go from building.
func (l *loop) connectAndCheck(ctx context.Context) (lost <-chan struct{}, stop func() error, err error) {
	checking, end := context.WithCancel(ctx)
	defer end()
	var refused error
	checked := make(chan struct{})
	go func() {
		defer close(checked)
		refused = gobuild.Check(checking, l.Root, l.Package, nil)
	}()
	lost, stop, err = l.connect(ctx)
	if err != nil {
		end()
		<-checked
		return nil, nil, err
	}
	if <-checked; refused != nil {
		return nil, nil, errors.Join(refused, stop())
	}
	return lost, stop, nil
}

// connect makes the cluster ready for use: lost is closed when it has gone, stop lets go of it.
func (l *loop) connect(ctx context.Context) (lost <-chan struct{}, stop func() error, err error) {
	stop = func() error { return nil }
	l.kubeconfig = l.Kubeconfig
	if l.Kubeconfig == "" && l.Context == "" {
		l.own = true
		l.kubeconfig = filepath.Join(l.Root, "bin", "run.kubeconfig")
		if err := checkWritable(filepath.Dir(l.kubeconfig)); err != nil {
			return nil, nil, err
		}
		p, err := startPlane(ctx, l.Operon, l.kubeconfig, l.DataDir, l.Nodes, l.Stderr)
		if err != nil {
			return nil, nil, err
		}
		lost = p.ended
		stop = func() error { return errors.Join(p.stop(), removeIfThere(l.kubeconfig)) }
		l.say("a control plane of your own is ready: export KUBECONFIG=%s", l.kubeconfig)
		if elsewhere := os.Getenv("KUBECONFIG"); elsewhere != "" && elsewhere != l.kubeconfig {
			l.say("the cluster of your shell's KUBECONFIG is left alone: --kubeconfig %s runs against it", elsewhere)
		}
	}
	if l.cluster, err = deploy.Connect(ctx, l.kubeconfig, l.Context); err == nil && !l.own {
		// The manager gets one file with one context: the one that was asked for.
		l.kubeconfig = filepath.Join(l.temp, "kubeconfig")
		var local bool
		if local, err = deploy.WriteKubeconfig(l.kubeconfig, l.Kubeconfig, l.Context); err == nil && local {
			l.webhooks, err = newWebhooks(l.temp, l.WebhookPort)
		}
	} else if err == nil {
		l.webhooks, err = newWebhooks(l.temp, l.WebhookPort)
	}
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	if os.Getenv(enableWebhooks) == "false" {
		l.webhooks = nil
	}
	return lost, stop, nil
}

// checkWritable makes a directory, and says so where nothing can be put into it.
func checkWritable(dir string) error {
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		var file *os.File
		if file, err = os.CreateTemp(dir, ".operon-run-"); err == nil {
			err = errors.Join(file.Close(), os.Remove(file.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("the manager is built into %s, which cannot be written: %w", dir, err)
	}
	return nil
}

func removeIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
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
			return errors.New("the control plane has ended: what it says is above")
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
	if err := l.install(ctx); err != nil {
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
		if err := l.apply(ctx, "config/samples", "-samples"); err != nil {
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

// placeWebhooks finds a port for the manager's webhooks, once there is something in the project to serve at it: the usual one, unless it is
// in use and the manager can be told of another.
func (l *loop) placeWebhooks() error {
	if l.webhooks == nil || l.placed {
		return nil
	}
	if _, err := os.Stat(filepath.Join(l.Root, filepath.Dir(manifests))); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	mod, err := os.ReadFile(filepath.Join(l.Root, "go.mod"))
	if err != nil {
		return err
	}
	if l.webhooks.port, err = l.ports.instead(l.WebhookPort); err != nil {
		return err
	}
	l.placed = true
	if l.webhooks.port == DefaultWebhookPort {
		return nil
	}
	runtime, err := gomodule.RuntimeOf(string(mod))
	if err != nil {
		// On neither library: the manager serves where its own code says.
		l.webhooks.port = l.WebhookPort
		return nil
	}
	if l.webhooks.port != l.WebhookPort {
		l.say("port %d is in use: webhooks are at %s", l.WebhookPort, l.webhooks.address())
	}
	overlay, err := writeOverlay(l.temp, filepath.Join(l.Root, l.Package), runtime.Path)
	if err != nil {
		return err
	}
	l.builder.Stop()
	l.builder, l.overlaid = l.newBuilder(overlay), true
	return nil
}

// buildFlags are what makes a build quick, rather than the manager: the loop waits for each build, and for nothing as long.
var buildFlags = []string{
	// Without symbols the linker has half the work. Without a build ID the same code makes the same binary, whoever called the linker, and
	// the manager that runs needs not be restarted.
	"-ldflags=-s -w -buildid=",
	// Without inlining and debug information there is a third less to compile, and a fifth less to link. With the same flags for all
	// packages as make build gives those of the operon command, whoever has built that has compiled most of the manager.
	"-gcflags=all=-l -dwarf=false", "-gcflags=std=",
	// Who runs it knows where it comes from: no need to ask git, nor to restart after a commit.
	"-buildvcs=false",
}

// buildEnv is added to a build's environment. A compiler or linker that does not collect garbage needs a quarter less of the processor; the
// limit keeps it from a small machine's swap.
var buildEnv = []string{"GOGC=off", "GOMEMLIMIT=1GiB"}

// newBuilder returns what builds the manager, with an overlay, if any.
func (l *loop) newBuilder(overlay string) *rebuild.Builder {
	flags := buildFlags
	if overlay != "" {
		flags = append(slices.Clone(flags), "-overlay="+overlay)
	}
	return &rebuild.Builder{
		Dir: l.Root, Package: l.Package, Output: l.binary, Temp: l.temp, Flags: flags, Env: buildEnv, Name: "operon: building the manager",
	}
}

// build compiles the manager and returns the digest of its binary.
func (l *loop) build(ctx context.Context) (digest [sha256.Size]byte, err error) {
	l.builder.Progress = l.Stderr
	if l.manager.running() {
		// A line that is drawn again would run into what the manager prints.
		l.builder.Progress = struct{ io.Writer }{l.Stderr}
	}
	err = l.builder.Build(ctx)
	var mistake *rebuild.Mistake
	switch {
	case errors.As(err, &mistake):
		if l.manager.running() {
			return digest, errors.New("the project does not compile, the manager of before still runs")
		}
		return digest, errors.New("the project does not compile")
	case err != nil:
		return digest, err
	}
	file, err := os.Open(l.binary)
	if err != nil {
		return digest, err
	}
	defer file.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return digest, err
	}
	return [sha256.Size]byte(hash.Sum(nil)), nil
}

// install applies the project's definitions.
func (l *loop) install(ctx context.Context) error { return l.apply(ctx, "config/crd", "-crds") }

// apply applies a kustomize directory of the project as the set of that name; a directory that is not there is nothing to do. It says what
// changed.
func (l *loop) apply(ctx context.Context, dir, set string) error {
	path := filepath.Join(l.Root, filepath.FromSlash(dir))
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	objects, err := deploy.Render(path)
	if err != nil || len(objects) == 0 {
		return err
	}
	return l.applyObjects(ctx, objects, set)
}

// applyObjects applies objects as the set of that name, unless they are the ones that were applied last: then what a person has since
// changed on the cluster stays.
func (l *loop) applyObjects(ctx context.Context, objects []*unstructured.Unstructured, set string) error {
	if l.webhooks != nil {
		if _, err := l.webhooks.redirect(objects); err != nil {
			return err
		}
	}
	// What the tree does not place goes where kubectl would put it.
	for _, object := range objects {
		if err := deploy.DefaultNamespace(l.cluster.RESTMapper(), object, "default"); err != nil {
			return err
		}
	}
	encoded, err := json.Marshal(objects)
	if err != nil {
		return err
	}
	digest := sha256.Sum256(encoded)
	if l.applied[set] == digest {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, stepTime, fmt.Errorf("%s are over", stepTime))
	defer cancel()
	report := deploy.NewReporter(io.Discard, io.Discard, false)
	err = deploy.NewDeployer(l.cluster, report, false).Apply(ctx, deploy.Set{Namespace: "default", Name: l.Name + set + "-applyset"}, objects, deploy.ApplyOptions{NoWait: true})
	for _, change := range report.Changes() {
		if change.Result != deploy.Unchanged {
			l.say("%s", change)
		}
	}
	if err == nil {
		l.applied[set] = digest
	}
	return err
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
	} else if l.overlaid {
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

// register tells the API server to call the manager's webhooks on this machine, once they are served.
func (l *loop) register(ctx context.Context) error {
	objects, err := readManifests(l.Root)
	if err != nil {
		return err
	}
	if len(objects) == 0 && !l.registered {
		return nil
	}
	if l.webhooks == nil {
		l.say("webhooks are off: the API server cannot call this machine, or %s=false asks for it", enableWebhooks)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	if len(objects) > 0 {
		if err := l.webhooks.await(ctx, l.manager); err != nil {
			return err
		}
	}
	l.registered = true
	return l.applyObjects(ctx, objects, "-webhooks")
}

// end stops the manager and, on a cluster that stays, takes the webhooks back: nobody answers them any more.
func (l *loop) end() {
	ctx, cancel := context.WithTimeout(context.Background(), stepTime)
	defer cancel()
	if l.registered && !l.own {
		report := deploy.NewReporter(io.Discard, io.Discard, false)
		set := deploy.Set{Namespace: "default", Name: l.Name + "-webhooks-applyset"}
		if err := deploy.NewDeployer(l.cluster, report, false).Remove(ctx, set, nil); err != nil {
			l.say("the webhooks are still registered, remove them by hand: %v", err)
		}
	}
	if l.manager.running() {
		l.manager.stop(ctx)
	}
}
