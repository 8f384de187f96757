package recipe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/generate/cli"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// ErrMistakes is returned when the generators found mistakes in the sources, which they have printed.
var ErrMistakes = errors.New("nothing was generated: mend what is named above")

// strictMarkers has markers without effect be mistakes. A project's own flags come later, and win.
const strictMarkers = "--strict-markers"

// Run carries out the recipes of the project in root by the binary operon. Mistakes in the sources are printed to stderr and end in
// ErrMistakes. Markers that no generator knows, or that stand where none looks, are mistakes too, unless a recipe has --strict-markers=false.
func Run(ctx context.Context, operon, root string, stderr io.Writer) error {
	return run(ctx, operon, root, stderr, strictMarkers)
}

func run(ctx context.Context, operon, root string, stderr io.Writer, flags ...string) error {
	recipes, err := Of(root)
	if err != nil {
		return err
	}
	for _, recipe := range recipes {
		// A process of its own: the generators work in its directory, and start before the rest of the binary does.
		cmd := exec.CommandContext(ctx, operon, slices.Concat([]string{"controller-gen"}, flags, recipe)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = root, stderr, stderr
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				return ErrMistakes
			}
			return fmt.Errorf("generators: %w", err)
		}
	}
	return nil
}

// report carries out the recipes as run does, and returns what became of them for programs. The first with mistakes is the last.
func report(ctx context.Context, operon, root string, stderr io.Writer, flags ...string) (cli.Report, error) {
	all := cli.NewReport()
	recipes, err := Of(root)
	if err != nil {
		return all, err
	}
	for _, recipe := range recipes {
		cmd := exec.CommandContext(ctx, operon, slices.Concat([]string{"controller-gen", "--output=json"}, flags, recipe)...)
		cmd.Dir, cmd.Stderr = root, stderr
		out, err := cmd.Output()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			return all, fmt.Errorf("generators: %w", err)
		}
		var one cli.Report
		if jsonErr := json.Unmarshal(out, &one); jsonErr != nil {
			return all, errors.Join(context.Cause(ctx), fmt.Errorf("generators: %w", cmp.Or(err, jsonErr)))
		}
		if all.Add(one); err != nil {
			return all, ErrMistakes
		}
	}
	return all, nil
}

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
			if output != "text" && output != "json" {
				return fmt.Errorf("--output %q: give text or json", output)
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
			if output == "text" {
				return run(ctx, operon, p.Root(), cmd.ErrOrStderr(), flags...)
			}
			all, err := report(ctx, operon, p.Root(), cmd.ErrOrStderr(), flags...)
			return errors.Join(err, all.Print(cmd.OutOrStdout()))
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "text", "text, or json for one object with the changed files, the mistakes and the warnings")
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
