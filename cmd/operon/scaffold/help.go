package scaffold

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flagGroup is a part of a verb's flags that belongs together.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// group returns a new part of a verb's flags. It is to be filled before setFlags.
func group(title string) flagGroup {
	f := pflag.NewFlagSet(title, pflag.ContinueOnError)
	f.SortFlags = false
	return flagGroup{title, f}
}

// setFlags gives a verb its flags, and has its help list them by their groups.
func setFlags(cmd *cobra.Command, groups ...flagGroup) {
	for _, g := range groups {
		cmd.Flags().AddFlagSet(g.flags)
	}
	cmd.SetUsageFunc(func(cmd *cobra.Command) error {
		out := cmd.OutOrStderr()
		fmt.Fprintf(out, "Usage:\n  %s [flags]\n\nExamples:\n%s\n", cmd.CommandPath(), strings.TrimRight(cmd.Example, "\n"))
		for _, g := range groups {
			if usages := g.flags.FlagUsages(); usages != "" {
				fmt.Fprintf(out, "\n%s:\n%s", g.title, usages)
			}
		}
		return nil
	})
}
