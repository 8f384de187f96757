package scaffold

import (
	"bytes"
	"context"
	"errors"
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
		return fmt.Errorf("the files are written, but not what is generated of them (%w): mend what is wrong, and run make generate manifests", err)
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

// goGet adds the module of a kind that another project has to the project's go.mod, if the user named one. It needs the network, unless
// the module was got before.
func goGet(cmd *cobra.Command, root string, r *project.Resource) error {
	if r.Module == "" {
		return nil
	}
	var said bytes.Buffer
	if err := runIn(cmd.Context(), root, cmd.OutOrStdout(), &said, "go", "get", wanted(r)); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("no Go to get %s with: install Go and put its bin directory on PATH, nothing is changed", wanted(r))
		}
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("%w (%s): nothing is changed", err, lines[len(lines)-1])
	}
	_, err := said.WriteTo(cmd.ErrOrStderr())
	return err
}

// wanted is what go is to get for a kind of another project: the package rather than the module, so that go.sum has what its own imports need
// as well.
func wanted(r *project.Resource) string {
	module, version, versioned := strings.Cut(r.Module, "@")
	switch {
	case !strings.HasPrefix(r.Path+"/", module+"/"): // replaced, or wrong: go says so
		return r.Module
	case versioned:
		return r.Path + "@" + version
	default:
		return r.Path
	}
}
