package devloop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// NewCommand returns "operon run". generate is what it calls before each build; see Options.Generate.
func NewCommand(generate func(ctx context.Context, root string, stderr io.Writer) error) *cobra.Command {
	o := Options{Generate: generate, Nodes: 1, WebhookPort: defaultWebhookPort}
	cmd := &cobra.Command{
		Use:   "run [-- ARGUMENTS OF THE MANAGER]",
		Short: "Run the operator here, and again whenever a file is saved",
		Long: `Generate, install the CRDs, build and start the manager on this machine; then watch the
project. When a file is saved, everything that depends on it is done again; when it does not
compile, the error is shown and the previous manager keeps running.

It runs against a control plane of its own, which starts in about a second and ends with it;
the first lines say how to reach it with kubectl. Only --kubeconfig or --context make it use
another cluster: the KUBECONFIG of your shell does not.

Webhooks are served and called on this machine; against a cluster elsewhere, which could not
call them, they are off.`,
		Example: `  # Against a control plane of its own, with the samples
  operon run --samples

  # The same one tomorrow
  operon run --data-dir .operon

  # Against a cluster of yours
  operon run --context kind-kind

  # With arguments for the manager
  operon run -- --zap-log-level=debug`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash != 0 && len(args) > 0 {
				return fmt.Errorf("operon run takes no arguments of its own: put those of the manager after --, as in operon run -- %s", args[0])
			}
			if err := o.check(cmd.Flags().Changed("nodes")); err != nil {
				return err
			}
			if err := o.find(); err != nil {
				return err
			}
			o.Args, o.Stdout, o.Stderr = args, cmd.OutOrStdout(), cmd.ErrOrStderr()
			o.Colour = cmdline.Coloured(o.Stdout)
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C does not wait
			return Run(ctx, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "kubeconfig `file` of a cluster to run against (default: a control plane of its own)")
	f.StringVar(&o.Context, "context", "", "`context` of the kubeconfig to run against (default: a control plane of its own)")
	f.BoolVar(&o.Samples, "samples", false, "apply config/samples, and again whenever they change")
	f.IntVar(&o.Nodes, "nodes", o.Nodes, "`number` of simulated nodes of its own control plane")
	f.IntVar(&o.WebhookPort, "webhook-port", o.WebhookPort, "`port` where the manager serves its webhooks")
	f.BoolVar(&o.RawLogs, "raw-logs", false, "print the manager's log as it writes it (default: in a form for people)")
	f.StringVar(&o.DataDir, "data-dir", "", "`directory` that keeps its own control plane's state from run to run")
	return cmd
}

// check refuses flags that make no sense. nodes says that --nodes was given.
func (o *Options) check(nodes bool) error {
	switch {
	case o.WebhookPort < 1 || o.WebhookPort > 65535:
		return fmt.Errorf("--webhook-port %d: give a port between 1 and 65535", o.WebhookPort)
	case o.Nodes < 0:
		return fmt.Errorf("--nodes %d: give a number that is not negative", o.Nodes)
	case (o.Kubeconfig != "" || o.Context != "") && (o.DataDir != "" || nodes):
		return errors.New("--data-dir and --nodes are for a control plane of run's own: leave them out with --kubeconfig and --context")
	}
	return nil
}

// find fills in what follows from the project that the current directory is in, and from this binary.
func (o *Options) find() error {
	p, err := project.Find(".")
	if err != nil {
		return err
	}
	o.Root, o.Name = p.Root(), p.ProjectName
	if o.Name == "" {
		o.Name = filepath.Base(o.Root)
	}
	if o.Package, err = p.ManagerPackage(); err != nil {
		return err
	}
	if o.Operon, err = os.Executable(); err != nil {
		return err
	}
	if o.DataDir != "" {
		o.DataDir, err = filepath.Abs(o.DataDir)
	}
	return err
}
