package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// moduleFiles are what go get changes of a project.
var moduleFiles = []string{"go.mod", "go.sum"}

// patience is how long go has to end after it was interrupted.
const patience = 5 * time.Second

// goGet plans the module of a kind that another project has, if the user named one. It needs the network, unless the module was got before.
// Go writes into copies, so that the project has the module with the rest of the plan, or not at all.
func goGet(cmd *cobra.Command, set *fileset.Set, r *project.Resource) error {
	if r.Module == "" {
		return nil
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	copies, err := os.MkdirTemp("", "operon-get-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(copies)
	for _, name := range moduleFiles {
		text, err := set.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(copies, name), []byte(text), 0o644)
		}
		if err != nil {
			return err
		}
	}

	var said bytes.Buffer
	get := exec.CommandContext(ctx, "go", "get", "-modfile="+filepath.Join(copies, "go.mod"), wanted(r))
	get.Dir, get.Stdout, get.Stderr, get.WaitDelay = set.Root(), cmd.OutOrStdout(), &said, patience
	get.Env = append(os.Environ(), "GOWORK=off") // which go get does not look at anyway, and the flag does not go with
	get.Cancel = func() error { return get.Process.Signal(os.Interrupt) }
	switch err := get.Run(); {
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted while go got %s: nothing is changed", wanted(r))
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("no Go to get %s with: install Go and put its bin directory on PATH, nothing is changed", wanted(r))
	case err != nil:
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("go get %s: %w (%s): nothing is changed", wanted(r), err, lines[len(lines)-1])
	}
	for _, name := range moduleFiles {
		text, err := os.ReadFile(filepath.Join(copies, name))
		switch {
		case errors.Is(err, fs.ErrNotExist): // no go.sum, where nothing is required that has a sum
			continue
		case err == nil && set.Exists(name):
			err = set.Edit(name, func(string) (string, error) { return string(text), nil })
		case err == nil:
			err = set.Create(name, string(text))
		}
		if err != nil {
			return err
		}
	}
	_, err = said.WriteTo(cmd.ErrOrStderr())
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
