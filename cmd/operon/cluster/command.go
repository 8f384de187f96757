package cluster

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
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

// NewCommand returns "operon cluster".
func NewCommand() *cobra.Command {
	opts := Options{Nodes: 1, RunNodes: runNodes}
	var verbosity int
	var ends ending
	cmd := &cobra.Command{
		Use:     "cluster",
		Short:   "Run a Kubernetes control plane in this process",
		Long:    long,
		Example: examples,
		Args:    cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if verbosity < 0 || verbosity > 10 {
				return fmt.Errorf("-v %d is not between 0 (quiet) and 10", verbosity)
			}
			if cmd.Flags().Changed("idle") && ends.lend == "" {
				return errors.New("--idle is about a cluster that is lent: give the socket with --lend, or leave it out")
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
