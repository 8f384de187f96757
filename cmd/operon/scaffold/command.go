package scaffold

import (
	"fmt"

	"github.com/spf13/cobra"
)

// NewCommands returns the verbs that make and change projects: init, create, delete and edit. They are to be added to a command that has "controller-gen"
// too, which they call for what follows from the code.
func NewCommands() []*cobra.Command {
	create := &cobra.Command{
		Use:   "create",
		Short: "Add a kind with its controller, or webhooks, to the project",
		Long:  "Add to the project that the current directory is in. What is there already is changed only where it says so with a marker, and is never overwritten.",
		Args:  noCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	create.AddCommand(newCreateAPI(), newCreateWebhook())
	remove := &cobra.Command{
		Use:   "delete",
		Short: "Take back what create made",
		Long:  "Take a kind or its webhooks out of the project. What will go is listed first; files that were changed since they were made stay, unless --force is given.",
		Args:  noCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	remove.AddCommand(newDeleteAPI(), newDeleteWebhook())
	return []*cobra.Command{newInit(), create, remove, newEdit()}
}

func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%q is not something to %s: operon %s --help lists what is", args[0], cmd.Name(), cmd.Name())
	}
	return nil
}
