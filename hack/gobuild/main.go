// Command gobuild is go build that shows how far it is.
//
//	go run ./hack/gobuild [-C dir] [-o file] [-ldflags flags] [-tags list] [package]
//
// The flags are those of go build, with one difference: -o is relative to the directory gobuild is called in, with
// -C too. On a terminal one line is redrawn with the share of packages that are compiled; elsewhere a line is printed
// every ten seconds. What go itself has to say is passed on unchanged, and so is its exit code. When there is
// nothing to do, gobuild adds next to nothing to go build's own time and prints one line.
//
// The share counts packages, not their size: it does not foretell the time that is left.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

// build is what the command line asks for.
type build struct {
	dir     string // of the package; empty means the current one
	output  string // absolute; empty leaves it to go build
	ldflags string
	tags    string
	pkg     string
}

func parse(args []string, stderr io.Writer) (build, error) {
	var b build
	flags := flag.NewFlagSet("gobuild", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&b.dir, "C", "", "build in this `directory`")
	flags.StringVar(&b.output, "o", "", "write the result to this `file`, relative to the directory gobuild is called in")
	flags.StringVar(&b.ldflags, "ldflags", "", "`flags` for go tool link")
	flags.StringVar(&b.tags, "tags", "", "comma-separated `list` of build tags")
	if err := flags.Parse(args); err != nil {
		return b, err
	}
	if flags.NArg() > 1 {
		return b, fmt.Errorf("gobuild: one package at a time, got %q", flags.Args())
	}
	if b.pkg = flags.Arg(0); b.pkg == "" {
		b.pkg = "."
	}
	if b.output != "" {
		abs, err := filepath.Abs(b.output)
		if err != nil {
			return b, err
		}
		b.output = abs
	}
	return b, nil
}

// name is what the progress calls the thing that is built.
func (b build) name() string {
	if b.output == "" {
		return b.pkg
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, b.output); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return b.output
}

// command is a go command in the build's directory, with the flags that decide which packages it is about.
func (b build) command(ctx context.Context, verb string, args ...string) *exec.Cmd {
	args = append([]string{verb}, args...)
	if b.tags != "" {
		args = append(args, "-tags", b.tags)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, b.pkg)...)
	cmd.Dir = b.dir
	cmd.Env = roomy(os.Environ())
	return cmd
}

// roomy lets the compiler collect its garbage late: of a first build's processor time that is a quarter. Settings that
// are there stay.
func roomy(env []string) []string {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return env
	}
	return append(env, "GOGC=off", "GOMEMLIMIT=2GiB")
}

func run(args []string, stderr io.Writer) int {
	b, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	start := time.Now()
	before := b.buildID()
	m := startMeter(stderr, b.name())
	defer m.stop()

	compiled, err := b.run(m)
	m.stop()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	case errors.As(err, &exit):
		return 130 // ended by a signal
	case err != nil:
		fmt.Fprintf(stderr, "gobuild: %v\n", err)
		return 1
	}
	took := roundTime(time.Since(start))
	switch {
	case compiled > 0:
		fmt.Fprintf(stderr, "%s: built in %s (%d packages compiled)\n", b.name(), took, compiled)
	case b.output != "" && bytes.Equal(before, b.buildID()):
		fmt.Fprintf(stderr, "%s: up to date (%s)\n", b.name(), took)
	default:
		fmt.Fprintf(stderr, "%s: built in %s (nothing to compile)\n", b.name(), took)
	}
	return 0
}

// run runs go build and reports how many packages it compiled.
func (b build) run(m *meter) (compiled int, err error) {
	args := []string{"-json", "-v"}
	if b.output != "" {
		args = append(args, "-o", b.output)
	}
	if b.ldflags != "" {
		args = append(args, "-ldflags", b.ldflags)
	}
	cmd := b.command(context.Background(), "build", args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	messages, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer passSignalsTo(cmd.Process)()

	// The packages are only counted once there is one to compile, so that an up-to-date build doesn't pay for it.
	listing, stopListing := context.WithCancel(context.Background())
	listed := make(chan struct{})
	firstPackage := func() {
		go func() {
			defer close(listed)
			if stale, root, err := b.stale(listing); err == nil {
				m.setStale(stale, root)
			}
		}()
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		readMessages(messages, m)
	}()
	compiled = readEvents(stdout, m, firstPackage)
	<-read
	err = cmd.Wait()
	stopListing()
	if compiled > 0 {
		<-listed
	}
	return compiled, err
}

// stale lists the packages that are still to be compiled, and the one that is linked.
func (b build) stale(ctx context.Context) (packages []string, root string, err error) {
	out, err := b.command(ctx, "list", "-deps", "-f", "{{.ImportPath}} {{.Stale}} {{.DepOnly}}").Output()
	if err != nil {
		return nil, "", err
	}
	for line := range bytes.Lines(out) {
		var path string
		var stale, depOnly bool
		if _, err := fmt.Sscan(string(line), &path, &stale, &depOnly); err != nil {
			return nil, "", err
		}
		if !depOnly {
			root = path
		}
		if stale {
			packages = append(packages, path)
		}
	}
	return packages, root, nil
}

// buildID returns the part of the output file in which Go keeps its build ID, which tells two results apart; nil when
// there is no such file.
func (b build) buildID() []byte {
	f, err := os.Open(b.output)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 32<<10))
	if err != nil {
		return nil
	}
	return head
}

// passSignalsTo lets the child decide when an interrupt ends the build, and gobuild outlive it.
func passSignalsTo(child *os.Process) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case s := <-signals:
				_ = child.Signal(s) // already gone: nothing to pass
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
		<-ended
	}
}
