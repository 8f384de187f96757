package scaffold

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/generate/recipe"
	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// words splits a command at commas, or at blanks where there are none.
func words(command string) []string {
	if strings.Contains(command, ",") {
		return strings.Split(command, ",")
	}
	return strings.Fields(command)
}

// commit carries a plan out and says what it was.
func commit(cmd *cobra.Command, set *fileset.Set) error {
	if err := set.Commit(); err != nil {
		return err
	}
	for _, c := range set.Changes() {
		fmt.Fprintf(cmd.OutOrStdout(), "%-7s %s\n", c.Op, c.Path)
	}
	return nil
}

// finish carries a plan out, runs the generators, and says what comes next.
func finish(cmd *cobra.Command, p *project.Project, set *fileset.Set, generate bool, next string) error {
	if err := commit(cmd, set); err != nil {
		return err
	}
	if generate {
		if err := runGenerators(cmd, p); err != nil {
			return err
		}
	}
	fmt.Fprintln(cmd.OutOrStdout(), next)
	return nil
}

// runGenerators runs "operon controller-gen" for what the project's make generate and make manifests do.
func runGenerators(cmd *cobra.Command, p *project.Project) error {
	verb, _, err := cmd.Root().Find([]string{"controller-gen"})
	if err != nil || verb.Name() != "controller-gen" {
		fmt.Fprintln(cmd.ErrOrStderr(), "this operon has no generators: run make generate manifests")
		return nil
	}
	recipes, err := recipe.Of(p.Root())
	for _, args := range recipes {
		if err == nil {
			err = runSelf(cmd, p.Root(), append([]string{"controller-gen"}, args...)...)
		}
	}
	if err != nil {
		return fmt.Errorf("the files are written, but the generators failed (%w): mend what is wrong, and run make generate manifests", err)
	}
	return nil
}

// runSelf runs this command with other arguments in a directory.
func runSelf(cmd *cobra.Command, dir string, args ...string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return runIn(cmd.Context(), dir, cmd.OutOrStdout(), cmd.ErrOrStderr(), self, args...)
}

func runIn(ctx context.Context, dir string, stdout, stderr io.Writer, name string, args ...string) error {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Stdout, c.Stderr = dir, stdout, stderr
	if err := c.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return nil
}
