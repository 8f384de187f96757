package migrate

import (
	"errors"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/review"
)

const long = `Move the operator that the current directory is in from controller-runtime onto Operon.

Imports of sigs.k8s.io/controller-runtime become imports of github.com/operon-dev/operon, in tests too; calls whose form has changed
up to v0.25 of that API are rewritten; go.mod requires Operon; the Makefile's targets call operon, and download nothing any more.
The layout, PROJECT and config stay as they are. Targets and files of your own are left alone, and named. An operator that neither
Kubebuilder nor Operator-SDK has made, without a PROJECT file, keeps its Makefile. In a project that is on Operon already, the Go files
that import controller-runtime all the same are moved, a tutorial's for example, and nothing else.

The result is compiled, tests included, before anything is written. Then the differences are shown, and on a terminal it asks whether
to go on. Elsewhere it writes with --yes only. A project with changes that are not committed is refused, unless --force is given.

With --compat imports and the Makefile stay as they are, and go.mod replaces controller-runtime by Operon under that name. That is the
way for a project that uses libraries which import controller-runtime themselves, since then they are on Operon too.`

const examples = `  # See what would change, and answer whether it should
  operon migrate

  # In a script
  operon migrate --yes

  # What would change, as a diff
  operon migrate --dry-run | less

  # For a project with libraries that import controller-runtime
  operon migrate --compat`

// NewCommand returns "operon migrate".
func NewCommand() *cobra.Command {
	var opts Options
	var source string
	var yes, dryRun bool
	cmd := &cobra.Command{
		Use:     "migrate",
		Short:   "Move an operator from controller-runtime onto Operon",
		Long:    long,
		Example: examples,
		Args:    cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			out, stderr := cmd.OutOrStdout(), cmd.ErrOrStderr()
			root, err := find(".")
			if err != nil {
				return err
			}
			if opts.From, err = origin.Find(); source != "" {
				opts.From, err = origin.At(source)
			}
			if err != nil {
				return err
			}
			// An interrupt while the plan is tried is to take its files away; at the question below it is the default's again.
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			plan, err := New(ctx, root, opts, func(line string) { fmt.Fprintln(stderr, line) })
			interrupted := ctx.Err() != nil
			stop()
			if interrupted {
				return errors.New("interrupted: nothing is changed")
			}
			if errors.Is(err, ErrMigrated) {
				fmt.Fprintln(out, "The project is on Operon already: there is nothing to move.")
				return nil
			}
			if err != nil {
				return err
			}
			if err := review.Diff(out, plan.Set, cmdline.Coloured(out)); err != nil {
				return err
			}
			fmt.Fprintln(out)
			for _, note := range plan.Notes {
				fmt.Fprintln(out, "note:", note)
			}
			if dryRun {
				fmt.Fprintln(out, "Nothing is written: operon migrate without --dry-run does it.")
				return nil
			}
			if !yes {
				if yes, err = review.Confirm(cmd, "Change these files [y/n]"); err != nil || !yes {
					return err
				}
			}
			if err := plan.Set.Commit(); err != nil {
				return err
			}
			return tell(cmd, plan)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.BoolVar(&opts.Compat, "compat", false, "leave imports and Makefile as they are, and replace controller-runtime in go.mod")
	f.BoolVarP(&yes, "yes", "y", false, "go on without asking")
	f.BoolVar(&dryRun, "dry-run", false, "show the differences, and change nothing")
	f.BoolVar(&opts.NoBuild, "no-build", false, "do not compile the result first: for a project that needs changes by hand")
	f.BoolVar(&opts.Force, "force", false, "go on with changes that are not committed, or without git")
	f.StringVar(&source, "operon-source", "", "checkout of Operon to build against (default: the one that this command was built from)")
	return cmd
}

// tell says what was done and what comes next.
func tell(cmd *cobra.Command, plan *Plan) error {
	next := "make test; then operon run, and git commit"
	if !plan.Scaffolded {
		next = "run its tests, and git commit"
	}
	changed := fmt.Sprintf("%d files are changed.", len(plan.Set.Changes()))
	if len(plan.Set.Changes()) == 1 {
		changed = "1 file is changed."
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\nNext: %s\n", changed, next)
	return err
}
