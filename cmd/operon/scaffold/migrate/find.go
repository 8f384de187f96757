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

// find returns the root of the operator that a directory is in: the nearest directory, there or above, that has a go.mod or a PROJECT. A module
// below a project, which has no PROJECT of its own, is an operator of its own.
func find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	root := above(dir, "go.mod", project.FileName)
	if root == "" {
		return "", errors.New("there is no PROJECT file here or above, and no go.mod: go to an operator's directory")
	}
	return root, nil
}

// above is the nearest directory, dir or above it, with a file of one of these names, or "".
func above(dir string, names ...string) string {
	for {
		for _, name := range names {
			if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
				return dir
			}
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
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

// withoutModule says why there is nothing to move where there is a PROJECT and no go.mod.
func withoutModule(root string) error {
	if p, err := project.Load(root); err == nil && len(p.Layout) > 0 && !inGo(p) {
		return fmt.Errorf("the project is laid out as %s, which has no Go code to move: operon migrate is for operators in Go", strings.Join(p.Layout, ","))
	}
	if module := above(root, "go.mod"); module != "" {
		return fmt.Errorf("the project in %s is part of the module in %s, and moves with it: run operon migrate there", root, module)
	}
	return errors.New("the project has no go.mod, so it is not a Go module: operon migrate is for operators in Go")
}

// inGo reports whether a project has a layout of Kubebuilder's or Operator-SDK's for Go.
func inGo(p *project.Project) bool {
	return slices.ContainsFunc(p.Layout, func(plugin string) bool { return strings.Contains(plugin, "go.kubebuilder.io/v") })
}
