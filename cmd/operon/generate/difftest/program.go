package difftest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// Version is the version of controller-gen, as testdata/controller-gen pins it.
const Version = "v0.23.0"

// Program is a command line that takes controller-gen's arguments.
type Program struct {
	// Name tells programs apart in messages.
	Name string
	// Command is the program and the arguments that go before the case's own.
	Command []string
	// Env is added to the environment.
	Env []string
}

// Outcome is what became of a run.
type Outcome struct {
	// Files holds the content of every file that the program created or changed, by its path in the tree. A file that it
	// removed is nil.
	Files map[string][]byte
	// Stdout and Stderr are what it printed.
	Stdout, Stderr string
	// ExitCode is 0 for success.
	ExitCode int
	// Wall is how long it took.
	Wall time.Duration
	// MaxRSS is the most memory it had resident at once, in bytes. It is never less than what the caller has resident when it starts it.
	MaxRSS int64
}

// BuildControllerGen builds controller-gen into dir and returns it.
func BuildControllerGen(ctx context.Context, dir string) (Program, error) {
	path := filepath.Join(dir, "controller-gen")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "sigs.k8s.io/controller-tools/cmd/controller-gen")
	cmd.Dir = filepath.Join("testdata", "controller-gen")
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return Program{}, fmt.Errorf("build controller-gen: %w\n%s", err, out)
	}
	return Program{Name: "controller-gen", Command: []string{path}}, nil
}

// Run runs the program in a directory. A program that fails is not an error, one that cannot be started is.
func (p Program) Run(ctx context.Context, dir string, args ...string) (Outcome, error) {
	cmd := exec.CommandContext(ctx, p.Command[0], append(append([]string(nil), p.Command[1:]...), args...)...)
	cmd.Dir = dir
	// Modules are taken as their authors published them, with whatever their go.sum lacks.
	cmd.Env = append(append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod"), p.Env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	began := time.Now()
	err := cmd.Run()
	outcome := Outcome{Wall: time.Since(began)}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return Outcome{}, fmt.Errorf("%s: %w", p.Name, err)
	}
	outcome.Stdout, outcome.Stderr = stdout.String(), stderr.String()
	outcome.ExitCode = cmd.ProcessState.ExitCode()
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		outcome.MaxRSS = usage.Maxrss * 1024
	}
	return outcome, nil
}
