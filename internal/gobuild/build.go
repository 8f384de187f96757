package gobuild

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
)

// A Build is what go build is asked for. The zero value builds the package of the current directory.
type Build struct {
	// Name is what the progress calls the thing that is built; empty means the package.
	Name string
	// Dir is where go is called; empty means the current directory.
	Dir string
	// Package is a package's path; empty means that of Dir.
	Package string
	// Output is the file to write; empty leaves it to go.
	Output string
	// Flags are further flags of go build.
	Flags []string
	// Env is the environment; nil means that of this process. See [Roomy].
	Env []string
	// Patience is how long a build may take before anything is shown, or counted, of it.
	Patience time.Duration
	// Prepare, unless nil, is called with the go build that is about to start. Until then, its Cancel interrupts it, and it is killed when it
	// has not ended ten seconds later.
	Prepare func(*exec.Cmd)
}

// A Result is what came of a build, of one that failed too.
type Result struct {
	// Compiled is the number of packages that were compiled.
	Compiled int
	// Said is what go said, apart from the modules that it downloaded.
	Said string
}

// Run builds, and shows on w how far it is and what go says. The error is that of [exec.Cmd]: an [exec.ExitError] when go refused, and has said
// why on w. Run returns when the build has ended, with ctx too.
func (b Build) Run(ctx context.Context, w io.Writer) (Result, error) {
	if b.Package == "" {
		b.Package = "."
	}
	if b.Name == "" {
		b.Name = b.Package
	}
	args := []string{"-json", "-v"}
	if b.Output != "" {
		args = append(args, "-o", b.Output)
	}
	cmd := b.command(ctx, "build", args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if b.Prepare != nil {
		b.Prepare(cmd)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return Result{}, err
	}
	messages, err := cmd.StderrPipe()
	if err != nil {
		return Result{}, err
	}
	if err := cmd.Start(); err != nil {
		return Result{}, err
	}
	m := startMeter(w, b.Name, b.Patience)
	defer m.stop()

	// The packages are only counted once there is one to compile, so that an up-to-date build doesn't pay for it.
	listing, stopListing := context.WithCancel(ctx)
	defer stopListing()
	var listed chan struct{}
	count := func() {
		listed = make(chan struct{})
		go func() {
			defer close(listed)
			select {
			case <-listing.Done():
				return
			case <-time.After(b.Patience):
			}
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
	compiled := readEvents(stdout, m, count)
	<-read
	err = cmd.Wait()
	stopListing()
	if listed != nil {
		<-listed
	}
	m.stop()
	return Result{Compiled: compiled, Said: m.said.String()}, err
}

// command is a go command with the flags that decide which packages it is about, and whether they are up to date.
func (b Build) command(ctx context.Context, verb string, args ...string) *exec.Cmd {
	args = append([]string{verb}, args...)
	args = append(args, b.Flags...)
	cmd := exec.CommandContext(ctx, "go", append(args, b.Package)...)
	cmd.Dir, cmd.Env = b.Dir, b.Env
	return cmd
}

// stale lists the packages that are still to be compiled, and the one that is linked.
func (b Build) stale(ctx context.Context) (packages []string, root string, err error) {
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

// Roomy is an environment in which the compiler collects its garbage late: of a first build's processor time that is a quarter. Settings that are
// in env stay.
func Roomy(env []string) []string {
	for _, entry := range env {
		if strings.HasPrefix(entry, "GOGC=") || strings.HasPrefix(entry, "GOMEMLIMIT=") {
			return env
		}
	}
	return append(env, "GOGC=off", "GOMEMLIMIT=2GiB")
}
