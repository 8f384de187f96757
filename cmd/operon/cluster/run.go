package cluster

// This file holds the life of a cluster that is a command: what ends it, who gives it orders, and who borrows it.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// ending says what ends the cluster besides a signal.
type ending struct {
	onEOF bool
	// lend is a socket; see lender. Empty: the cluster is not lent.
	lend string
	idle time.Duration
}

func run(ctx context.Context, opts Options, verbosity int, ends ending, stdout, stderr io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	endOnSignal(cancel)
	var fromParent io.Reader
	if ends.onEOF {
		fromParent = endOnEOF(cancel)
	}
	var borrowers net.Listener
	if ends.lend != "" {
		var err error
		if borrowers, err = listenToBorrowers(ends.lend); err != nil {
			return err
		}
		defer borrowers.Close()
	}
	// A component that gives up while the cluster stops only says that it was stopped.
	componentExits(func(reason error) {
		cancel(fmt.Errorf("the cluster cannot go on: %w", reason))
	})

	began := started()
	settled := tuneMemory()
	progress := newProgress(stderr, began, verbosity == 0)
	opts.Progress = progress.step
	c, err := Start(ctx, opts)
	progress.clear()
	if errors.Is(err, errAsked) {
		return nil
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "ready in %.2fs; kubeconfig %s; use it with: export KUBECONFIG=%s; %s get nodes\n",
		time.Since(began).Seconds(), c.Kubeconfig(), shellQuote(c.Kubeconfig()), kubectl())
	settled()

	if fromParent != nil {
		go func() {
			if err := (&orders{cluster: c}).serve(ctx, fromParent, stdout); err != nil {
				cancel(fmt.Errorf("orders on standard input: %w", err))
			}
		}()
	}
	if borrowers != nil {
		l := &lender{cluster: c, listener: borrowers, idle: ends.idle}
		go func() {
			err := l.run(ctx)
			if errors.Is(err, errIdle) {
				err = errAsked
			}
			cancel(err)
		}()
	}
	return c.untilEnded(ctx)
}

var errAsked = errors.New("asked to stop")

// endOnSignal cancels with errAsked when the process is asked to end, and ends it when a person asks again.
func endOnSignal(cancel context.CancelCauseFunc) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	// The terminal that is closed takes the cluster with it, unless nohup says otherwise.
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		<-signals
		cancel(errAsked)
		// Impatience is a second Ctrl-C. Of the signal that a parent's death sends, there may be several.
		for again := range signals {
			if again == os.Interrupt {
				os.Exit(130)
			}
		}
	}()
}

// endOnEOF cancels with errAsked when standard input ends, and returns what comes from there.
func endOnEOF(cancel context.CancelCauseFunc) io.Reader {
	// Whoever reads our output may be killed, and what is said after that must not kill us before everything is removed.
	signal.Ignore(syscall.SIGPIPE)
	fromParent, stdin := io.Pipe()
	go func() {
		// Orders wait here until the cluster is ready for them.
		io.Copy(stdin, os.Stdin)
		cancel(errAsked)
		stdin.Close()
	}()
	return fromParent
}

// untilEnded returns when the cluster has ended: because ctx has, or because it cannot go on. That it was asked to is no error.
func (c *Cluster) untilEnded(ctx context.Context) error {
	select {
	case <-ctx.Done():
		err := c.Stop()
		if cause := context.Cause(ctx); !errors.Is(cause, errAsked) {
			return cause
		}
		return err
	case <-c.Failed():
		err := c.Err()
		c.Stop()
		return err
	}
}

// kubectl is how to call it here: by its own name where it is installed, else as a verb of this binary.
func kubectl() string {
	if _, err := exec.LookPath("kubectl"); err == nil {
		return "kubectl"
	}
	return shellQuote(os.Args[0]) + " kubectl"
}
