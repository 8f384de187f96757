package upgrade

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/review"
)

const long = `Carry what has changed in the scaffold since the project was made into the project, which people have changed too: a newer operon
may have a better Makefile, main or config to begin with.

Each scaffolded file is merged three ways: what the scaffold made back then, what it makes now, and what is in the project. What only
you changed stays, what only the scaffold changed is changed, and where both changed the same lines both are left in the file, between
<<<<<<< and >>>>>>>, for you to settle; such files are listed, and the exit code is not 0. Files that you deleted stay deleted. What
go.mod requires is raised to what the scaffold needs now, and never lowered.

Which scaffold the project was made with is found out by comparing. --from names a directory or a commit that has it untouched, for
a project that was made by an operon between releases, or by kubebuilder.

A project with changes that are not committed is refused, unless --force is given: git diff then shows what was done, and git checkout takes
it back.`

const examples = `  # See what would change
  operon upgrade --dry-run

  # Do it, and look at it
  operon upgrade && git diff

  # With the commit that kubebuilder or operon made as what was there at first
  operon upgrade --from 1f2e3d4`

// NewCommand returns "operon upgrade".
func NewCommand() *cobra.Command { return newCommand(Options{}) }

func newCommand(opts Options) *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:     "upgrade",
		Short:   "Carry a newer scaffold into the project",
		Long:    long,
		Example: examples,
		Args:    cmdline.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := project.Find(".")
			if err != nil {
				return err
			}
			plan, err := New(cmd.Context(), p, opts)
			if err != nil {
				return err
			}
			return carryOut(cmd, plan, dryRun)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&opts.From, "from", "", "directory or commit that has the project's scaffold untouched (default: found out by comparing)")
	f.BoolVar(&dryRun, "dry-run", false, "show the differences, and change nothing")
	f.BoolVar(&opts.Force, "force", false, "go on with changes that are not committed, or without git")
	return cmd
}

// carryOut writes a plan, or shows it, and says what it was.
func carryOut(cmd *cobra.Command, plan *Plan, dryRun bool) error {
	out := cmd.OutOrStdout()
	changes := plan.Set.Changes()
	if dryRun {
		if err := review.Diff(out, plan.Set, cmdline.Coloured(out)); err != nil {
			return err
		}
	} else if err := plan.Set.Commit(); err != nil {
		return err
	}
	conflicts := map[string]bool{}
	for _, path := range plan.Conflicts {
		conflicts[path] = true
	}
	for _, c := range changes {
		op := string(c.Op)
		if conflicts[c.Path] {
			op = "conflict"
		}
		fmt.Fprintf(out, "%-8s %s\n", op, c.Path)
	}
	for _, note := range plan.Notes {
		fmt.Fprintln(out, "note:", note)
	}
	switch {
	case len(changes) == 0:
		fmt.Fprintln(out, "The project has all that is in the scaffold of this operon.")
	case dryRun:
		fmt.Fprintln(out, "Nothing is written: operon upgrade without --dry-run does it.")
	case len(plan.Conflicts) > 0:
		return fmt.Errorf("%s: settle what is between <<<<<<< and >>>>>>> there, then operon generate and make test", strings.Join(plan.Conflicts, ", "))
	case slices.Contains(changes, fileset.Change{Path: goMod, Op: fileset.Changed}):
		fmt.Fprintln(out, "Next: git diff, go mod tidy, operon generate, make test")
	default:
		fmt.Fprintln(out, "Next: git diff, operon generate, make test")
	}
	return nil
}
