// Command gobuild is go build that shows how far it is.
//
//	go run ./hack/gobuild [-C dir] [-o file] [-ldflags flags] [-tags list] [package]
//
// The flags are those of go build, with one difference: -o is relative to the directory gobuild is called in, with
// -C too. Progress is shown as package internal/gobuild says. What go itself has to say is passed on unchanged, and so is
// its exit code. When there is nothing to do, gobuild adds next to nothing to go build's own time and prints one line.
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

	"github.com/operon-dev/operon/internal/gobuild"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stderr))
}

func parse(args []string, stderr io.Writer) (gobuild.Build, error) {
	var ldflags, tags string
	b := gobuild.Build{Env: gobuild.Roomy(os.Environ())}
	flags := flag.NewFlagSet("gobuild", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&b.Dir, "C", "", "build in this `directory`")
	flags.StringVar(&b.Output, "o", "", "write the result to this `file`, relative to the directory gobuild is called in")
	flags.StringVar(&ldflags, "ldflags", "", "`flags` for go tool link")
	flags.StringVar(&tags, "tags", "", "comma-separated `list` of build tags")
	if err := flags.Parse(args); err != nil {
		return b, err
	}
	if flags.NArg() > 1 {
		return b, fmt.Errorf("gobuild: one package at a time, got %q", flags.Args())
	}
	b.Package = flags.Arg(0)
	if ldflags != "" {
		b.Flags = append(b.Flags, "-ldflags", ldflags)
	}
	if tags != "" {
		b.Flags = append(b.Flags, "-tags", tags)
	}
	if b.Output != "" {
		abs, err := filepath.Abs(b.Output)
		if err != nil {
			return b, err
		}
		b.Output = abs
	}
	b.Name = name(b)
	return b, nil
}

// name is what the progress calls the thing that is built.
func name(b gobuild.Build) string {
	if b.Output == "" {
		return b.Package
	}
	if wd, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(wd, b.Output); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return b.Output
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	b, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	start := time.Now()
	before := buildID(b.Output)
	result, err := b.Run(ctx, stderr)
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return 130 // ended by a signal
	case errors.As(err, &exit):
		return max(exit.ExitCode(), 1)
	case err != nil:
		fmt.Fprintf(stderr, "gobuild: %v\n", err)
		return 1
	}
	took := gobuild.RoundTime(time.Since(start))
	switch {
	case result.Compiled > 0:
		fmt.Fprintf(stderr, "%s: built in %s (%d packages compiled)\n", b.Name, took, result.Compiled)
	case b.Output != "" && bytes.Equal(before, buildID(b.Output)):
		fmt.Fprintf(stderr, "%s: up to date (%s)\n", b.Name, took)
	default:
		fmt.Fprintf(stderr, "%s: built in %s (nothing to compile)\n", b.Name, took)
	}
	return 0
}

// buildID returns the part of a file in which Go keeps its build ID, which tells two results apart; nil when there is no such file.
func buildID(path string) []byte {
	f, err := os.Open(path)
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
