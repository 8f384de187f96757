package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
)

// find returns the root of the operator that a directory is in: where its PROJECT is, there or above; without one, where its go.mod is.
func find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for _, name := range []string{project.FileName, "go.mod"} {
		for at := dir; ; at = filepath.Dir(at) {
			if info, err := os.Stat(filepath.Join(at, name)); err == nil && info.Mode().IsRegular() {
				return at, nil
			}
			if at == filepath.Dir(at) {
				break
			}
		}
	}
	return "", errors.New("there is no PROJECT file here or above, and no go.mod: go to an operator's directory")
}

// scaffolded reports whether operon's other verbs know the project in a directory, or else why they don't.
func scaffolded(root string) (ok bool, reason string) {
	p, err := project.Load(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, "it has no PROJECT file"
	case err != nil:
		return false, err.Error()
	case len(p.Layout) == 0:
		return false, "PROJECT names no layout"
	case !inGo(p):
		return false, "its layout is " + strings.Join(p.Layout, ",")
	}
	return true, ""
}

// withoutModule says why there is nothing to move where there is no go.mod.
func withoutModule(root string) error {
	if p, err := project.Load(root); err == nil && len(p.Layout) > 0 && !inGo(p) {
		return fmt.Errorf("the project is laid out as %s, which has no Go code to move: operon migrate is for operators in Go", strings.Join(p.Layout, ","))
	}
	return errors.New("the project has no go.mod, so it is no Go module: operon migrate is for operators in Go")
}

// inGo reports whether a project has a layout of Kubebuilder's or Operator-SDK's for Go.
func inGo(p *project.Project) bool {
	return slices.ContainsFunc(p.Layout, func(plugin string) bool { return strings.Contains(plugin, "go.kubebuilder.io/v") })
}
