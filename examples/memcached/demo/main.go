// Command demo shows the Memcached operator at work on a cluster of its own: it starts the cluster and the operator,
// creates a Memcached, scales it, damages what belongs to it, deletes it, and watches how the operator answers.
//
//	demo --operon bin/operon --manager bin/memcached [--keep]
//
// Every step has a time limit. The exit code is 0 when all of them were met, 1 when one was missed, 2 for a wrong
// command line and 130 after an interrupt. No process and no file is left behind in any of these cases.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"

	ctrl "github.com/operon-dev/operon"
)

func main() {
	os.Exit(run())
}

func run() int {
	var d demo
	var pause time.Duration
	flag.StringVar(&d.operon, "operon", "bin/operon", "the operon `command`")
	flag.StringVar(&d.manager, "manager", "bin/memcached", "the `program` of the operator")
	flag.BoolVar(&d.keep, "keep", false, "stay up at the end, with the Memcached still there, until Ctrl-C")
	flag.DurationVar(&pause, "pause", 1500*time.Millisecond, "on a terminal, leave the outcome of a step this `long` before the next begins")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "demo: unexpected argument %q\n", flag.Arg(0))
		return 2
	}
	for _, program := range []*string{&d.operon, &d.manager} {
		path, err := filepath.Abs(*program)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "demo: %v; `make demo` builds it\n", err)
			return 2
		}
		*program = path
	}
	ctrl.SetLogger(logr.Discard()) // what the demo's own client logs is of no interest to its audience

	// The first signal ends the demo in good order, a second one at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop)

	if width, ok := terminal(os.Stdout); ok {
		d.screen, d.pause = newTerminalScreen(os.Stdout, width), pause
	} else {
		d.screen = newPlainScreen(os.Stdout)
	}
	err := d.run(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "demo: interrupted")
		return 130
	default:
		fmt.Fprintln(os.Stderr, "demo:", err)
		return 1
	}
}
