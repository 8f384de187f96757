package cluster

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

	"github.com/spf13/cobra"
)

const long = `Run a Kubernetes control plane in this process: etcd, kube-apiserver, the workload
controllers, kube-scheduler and simulated nodes. All but the kubelet is the real
Kubernetes; pods are scheduled and become Ready, but no container is started.

The cluster lives until Ctrl-C (or SIGTERM) and leaves nothing behind. With --data-dir
its objects, keys and port are kept and the next run continues with them.

It listens on 127.0.0.1 only. The kubeconfig's user may do anything (system:masters).`

const examples = `  # A cluster for this terminal; another terminal uses it
  operon cluster
  export KUBECONFIG=...   # as the ready line says
  operon kubectl get nodes

  # Keep the state, three nodes, a kubeconfig where scripts expect it
  operon cluster --data-dir ~/.operon/dev --nodes 3 --kubeconfig ./kubeconfig

  # As a child of a test: ends when the test's end of the pipe is closed
  operon cluster --stop-on-stdin-eof`

// NewCommand returns "operon cluster". runNodes simulates nodes; see Options.RunNodes.
func NewCommand() *cobra.Command {
	opts := Options{Nodes: 1, RunNodes: runNodes}
	var verbosity int
	var ends ending
	cmd := &cobra.Command{
		Use:     "cluster",
		Short:   "Run a Kubernetes control plane in this process",
		Long:    long,
		Example: examples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("operon cluster takes no arguments, only flags: %q is not one", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if verbosity < 0 || verbosity > 10 {
				return fmt.Errorf("-v %d is not between 0 (quiet) and 10", verbosity)
			}
			if opts.APIOnly && !cmd.Flags().Changed("nodes") {
				opts.Nodes = 0
			}
			opts.StoreLogger = setupLogging(verbosity, cmd.ErrOrStderr())
			return run(cmd.Context(), opts, verbosity, ends, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.DataDir, "data-dir", "", "directory that keeps the cluster across runs (default: a temporary one, removed at the end)")
	f.IntVar(&opts.Nodes, "nodes", opts.Nodes, "number of simulated nodes")
	f.BoolVar(&opts.APIOnly, "api-only", false, "etcd and kube-apiserver alone: no controllers, no scheduler, no nodes")
	f.StringArrayVar(&opts.APIServerArgs, "kube-apiserver-arg", nil, "flag of kube-apiserver, as name=value; may be given several times")
	f.IntVar(&opts.Port, "port", 0, "port of the API server on 127.0.0.1 (default: that of the last run of --data-dir, or a free one)")
	f.StringVar(&opts.Kubeconfig, "kubeconfig", "", "kubeconfig to write; one that exists gets a context \"operon\" beside its own (default: a file in the data directory)")
	f.IntVarP(&verbosity, "v", "v", 0, "verbosity of the components' messages on stderr, 0 (none) to 10")
	f.BoolVar(&ends.onEOF, "stop-on-stdin-eof", false, "stop when standard input ends, so that a parent process takes the cluster with it; its lines are orders: mark, reset, sign")
	f.StringVar(&ends.lend, "lend", "", "Unix socket through which the cluster is lent to one borrower at a time, reset after each")
	f.DurationVar(&ends.idle, "idle", time.Minute, "with --lend, stop when nobody has borrowed the cluster for so long")
	return cmd
}

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
	fromParent, stdin := io.Pipe()
	if ends.onEOF {
		// Whoever reads our output may be killed, and what is said after that must not kill us before everything is removed.
		signal.Ignore(syscall.SIGPIPE)
		go func() {
			// Orders wait here until the cluster is ready for them.
			io.Copy(stdin, os.Stdin)
			cancel(errAsked)
			stdin.Close()
		}()
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
	if err != nil {
		if errors.Is(err, errAsked) {
			return nil
		}
		return err
	}
	fmt.Fprintf(stdout, "ready in %.2fs; kubeconfig %s; use it with: export KUBECONFIG=%s; %s get nodes\n",
		time.Since(began).Seconds(), c.Kubeconfig(), shellQuote(c.Kubeconfig()), kubectl())
	settled()
	if ends.onEOF {
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

var errAsked = errors.New("asked to stop")
