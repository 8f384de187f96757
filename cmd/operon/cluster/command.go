package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
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
	var stopOnEOF bool
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
			opts.StoreLogger = setupLogging(verbosity, cmd.ErrOrStderr())
			return run(cmd.Context(), opts, verbosity, stopOnEOF, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.DataDir, "data-dir", "", "directory that keeps the cluster across runs (default: a temporary one, removed at the end)")
	f.IntVar(&opts.Nodes, "nodes", opts.Nodes, "number of simulated nodes")
	f.IntVar(&opts.Port, "port", 0, "port of the API server on 127.0.0.1 (default: that of the last run of --data-dir, or a free one)")
	f.StringVar(&opts.Kubeconfig, "kubeconfig", "", "kubeconfig to write; one that exists gets a context \"operon\" beside its own (default: a file in the data directory)")
	f.IntVarP(&verbosity, "v", "v", 0, "verbosity of the components' messages on stderr, 0 (none) to 10")
	f.BoolVar(&stopOnEOF, "stop-on-stdin-eof", false, "stop when standard input ends, so that a parent process takes the cluster with it")
	return cmd
}

func run(ctx context.Context, opts Options, verbosity int, stopOnEOF bool, stdout, stderr io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel(errAsked)
		<-signals
		os.Exit(130)
	}()
	if stopOnEOF {
		go func() {
			io.Copy(io.Discard, os.Stdin)
			cancel(errAsked)
		}()
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
