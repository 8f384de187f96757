package cmdline

import (
	"fmt"

	"github.com/spf13/cobra"
)

// NoArguments is the [cobra.Command] Args of a verb that takes flags alone.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, only flags: %q is not one", cmd.CommandPath(), args[0])
	}
	return nil
}
