package recipe

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// NewCommand returns "operon generate".
func NewCommand() *cobra.Command {
	var show, strict bool
	var output string
	cmd := &cobra.Command{
		Use:   "generate",
		Short: "Generate the project's code and manifests",
		Long: `Run the generators over the whole project, in one pass: DeepCopy methods, CRDs, RBAC roles,
webhook configurations, apply configurations and conversions between versions, from the types and the
markers in the code. What they are to do is read from the
targets generate and manifests of the Makefile; without these, the usual places are assumed.

Files whose content does not change are not touched. When the code has mistakes, all of them are
shown with their places and nothing is written. A marker that is misspelt, or that stands where no
generator looks, is one; with --strict-markers=false, here or in the Makefile's line, it is a warning.

operon controller-gen takes the generators' own arguments.`,
		Example: `  # All that the project's Makefile would generate
  operon generate

  # Which calls of controller-gen these are
  operon generate --show

  # What was changed, or is wrong, for an editor
  operon generate -o json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("operon generate takes no arguments: %q is not one; operon controller-gen takes generators and paths", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmdline.CheckOutput(output); err != nil {
				return err
			}
			p, err := project.Find(".")
			if err != nil {
				return err
			}
			var flags []string
			if strict {
				flags = append(flags, strictMarkers)
			}
			if show {
				recipes, err := Of(p.Root())
				for _, r := range recipes {
					fmt.Fprintln(cmd.OutOrStdout(), "operon controller-gen", quote(slices.Concat(flags, r)))
				}
				return err
			}
			operon, err := os.Executable()
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if output == cmdline.Text {
				return run(ctx, operon, p.Root(), cmd.ErrOrStderr(), flags...)
			}
			all, err := report(ctx, operon, p.Root(), cmd.ErrOrStderr(), flags...)
			return errors.Join(err, all.Print(cmd.OutOrStdout()))
		},
	}
	cmdline.AddOutput(cmd.Flags(), &output, "one object with the changed files, the mistakes and the warnings")
	cmd.Flags().BoolVar(&strict, "strict-markers", true, "take markers that no generator knows, or that stand where none looks, for mistakes instead of warnings")
	cmd.Flags().BoolVar(&show, "show", false, "print the calls of controller-gen that this is, and do nothing")
	return cmd
}

// quote writes arguments so that a shell reads them as they are.
func quote(args []string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		if quoted[i] = arg; strings.ContainsAny(arg, " \t'\"\\$`*?[]{}()<>|&;#~!") {
			quoted[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
