package gomodule

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
)

//go:embed snapshot.mod
var snapshotMod []byte

//go:embed snapshot.sum
var snapshotSum string

// ControllerRuntime is the module that projects of Kubebuilder and Operator-SDK are built on.
const ControllerRuntime = "sigs.k8s.io/controller-runtime"

// unpublished is the version that a replaced library is required at.
const unpublished = "v0.0.0"

// Require returns go.mod and go.sum with all that a scaffolded project needs. Both may be empty, for a new module of the path repo.
func Require(mod, sum, repo string, from origin.Origin) (newMod, newSum string, err error) {
	file, err := modfile.Parse("go.mod", []byte(mod), nil)
	if err != nil {
		return "", "", fmt.Errorf("not a valid go.mod: %w", err)
	}
	if file.Module == nil {
		if err := file.AddModuleStmt(repo); err != nil {
			return "", "", err
		}
	}
	known, sums, err := needs(from.Dir)
	if err != nil {
		return "", "", err
	}
	if _, err := raiseGo(file, known); err != nil {
		return "", "", err
	}
	version := unpublished
	if from.Version != "" {
		version = from.Version
	} else if err := file.AddReplace(origin.Library, "", from.Dir, ""); err != nil {
		return "", "", err
	}
	// Added with the others, which separates what is required for its own sake from the rest.
	if err := file.DropRequire(origin.Library); err != nil {
		return "", "", err
	}
	file.Cleanup()
	newMod, err = require(file, append(known.Require, &modfile.Require{Mod: module.Version{Path: origin.Library, Version: version}}))
	return newMod, mergeSums(append(sums, sum)...), err
}

// sorted is a list of requirements by their paths.
func sorted(merged map[string]*modfile.Require) []*modfile.Require {
	return slices.SortedFunc(maps.Values(merged), func(a, b *modfile.Require) int { return strings.Compare(a.Mod.Path, b.Mod.Path) })
}

func read(dir string) (*modfile.File, string, error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return nil, "", err
	}
	file, err := modfile.Parse(filepath.Join(dir, "go.mod"), mod, nil)
	if err != nil {
		return nil, "", err
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	return file, string(sum), err
}

func mergeSums(sums ...string) string {
	var lines []string
	for _, sum := range sums {
		lines = append(lines, strings.Split(strings.TrimSpace(sum), "\n")...)
	}
	slices.Sort(lines)
	lines = slices.DeleteFunc(slices.Compact(lines), func(line string) bool { return line == "" })
	return strings.Join(lines, "\n") + "\n"
}

// Parse reads a go.mod. The error is one sentence: the first of what is wrong, and where.
func Parse(mod string) (*modfile.File, error) {
	file, err := modfile.Parse("go.mod", []byte(mod), nil)
	if list, ok := err.(modfile.ErrorList); ok && len(list) > 0 {
		err = &list[0]
	}
	if err != nil {
		return nil, fmt.Errorf("%w: mend go.mod first, nothing is changed", err)
	}
	return file, nil
}

// Path is the path of the module that a go.mod describes, or "".
func Path(mod string) string { return modfile.ModulePath([]byte(mod)) }

// A Runtime is the library that a project is built on.
type Runtime struct {
	// Path is the import path of its root.
	Path string
	// Typed says that webhooks are made for a type, and events recorded with their newer API. That is so from controller-runtime v0.23 on.
	Typed bool
}

// RuntimeOf is the library that a go.mod requires: Operon where it does, and controller-runtime otherwise.
func RuntimeOf(mod string) (Runtime, error) {
	file, err := modfile.ParseLax("go.mod", []byte(mod), nil)
	if err != nil {
		return Runtime{}, fmt.Errorf("not a valid go.mod: %w", err)
	}
	found := Runtime{}
	for _, r := range file.Require {
		switch r.Mod.Path {
		case origin.Library:
			return Runtime{Path: origin.Library, Typed: true}, nil
		case ControllerRuntime:
			found = Runtime{Path: ControllerRuntime, Typed: semver.Compare(r.Mod.Version, "v0.23.0") >= 0}
		}
	}
	if found.Path == "" {
		if _, err := Parse(mod); err != nil { // lax as it was read above, anything will do
			return Runtime{}, err
		}
		return Runtime{}, fmt.Errorf("go.mod requires neither %s nor %s: go get one of them", origin.Library, ControllerRuntime)
	}
	return found, nil
}
