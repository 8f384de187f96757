package scaffold

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
)

func newEdit() *cobra.Command {
	var multiGroup bool
	cmd := &cobra.Command{
		Use:   "edit",
		Short: "Change the project's settings",
		Long: `Change the project's settings.

With --multigroup, what is created from now on gets directories by its group: api/GROUP/VERSION, internal/controller/GROUP and
internal/webhook/GROUP/VERSION. What is there stays where it is, and goes on working: PROJECT knows where.`,
		Example: "  # Allow kinds of several groups\n  operon edit --multigroup",
		Args:    cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := findProject()
			if err != nil {
				return err
			}
			var opts editOptions
			if cmd.Flags().Changed("multigroup") {
				opts.multiGroup = &multiGroup
			}
			set, err := editProject(p, opts)
			if err != nil {
				return err
			}
			if len(set.Changes()) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "The project is set up that way already: there is nothing to change.")
				return err
			}
			return commit(cmd, set)
		},
	}
	settings := group("Settings")
	settings.flags.BoolVar(&multiGroup, "multigroup", false, "give every group directories of its own")
	addPlugins(settings.flags)
	setFlags(cmd, settings)
	return cmd
}
