package kustomize

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/kustomize/kustomize/v5/commands"
)

// Run runs kustomize with the arguments that follow its name. It returns what kustomize has to say against them, unprinted.
func Run(ctx context.Context, args []string) error {
	cmd := commands.NewDefaultCommand()
	cmd.SetArgs(args)
	silence(cmd)
	hideFlagsOfOthers(cmd)
	return cmd.ExecuteContext(ctx)
}

// hideFlagsOfOthers keeps help to what kustomize knows: it takes over the flags that any package of the process has registered.
func hideFlagsOfOthers(root *cobra.Command) {
	hide := func(f *pflag.Flag) { f.Hidden = f.Hidden || f.Name != "stack-trace" }
	root.PersistentFlags().VisitAll(hide)
	pflag.CommandLine.VisitAll(hide) // cobra adds these itself
}

// silence keeps cobra from printing the error and the usage: the caller prints the error, once.
func silence(cmd *cobra.Command) {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	for _, c := range cmd.Commands() {
		silence(c)
	}
}
