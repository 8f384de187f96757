package kustomize

import (
	"context"

	"github.com/spf13/cobra"
	"sigs.k8s.io/kustomize/kustomize/v5/commands"
)

// Run runs kustomize with the arguments that follow its name. It returns what kustomize has to say against them, unprinted.
func Run(ctx context.Context, args []string) error {
	cmd := commands.NewDefaultCommand()
	cmd.SetArgs(args)
	silence(cmd)
	return cmd.ExecuteContext(ctx)
}

// silence keeps cobra from printing the error and the usage: the caller prints the error, once.
func silence(cmd *cobra.Command) {
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	for _, c := range cmd.Commands() {
		silence(c)
	}
}
