package origin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// Library is the path of the library's module.
const Library = "github.com/operon-dev/operon"

// dir may be set with -ldflags "-X github.com/operon-dev/operon/cmd/operon/scaffold/origin.dir=/path/to/checkout".
var dir string

// An Origin is where the library is to be had. One of its fields is set.
type Origin struct {
	// Version is a released version of the library.
	Version string
	// Dir is a checkout of its source.
	Dir string
}

// Find returns the origin of the running command. The first of these that holds decides: it was built of a released version; it was
// told at build time; its source is where it was compiled; it lies in a checkout, as bin/operon does.
func Find() (Origin, error) {
	if version := released(); version != "" {
		return Origin{Version: version}, nil
	}
	candidates := []string{dir}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		candidates = append(candidates, filepath.Dir(file))
	}
	if exe, err := os.Executable(); err == nil {
		if exe, err = filepath.EvalSymlinks(exe); err == nil {
			candidates = append(candidates, filepath.Dir(exe))
		}
	}
	for _, candidate := range candidates {
		if root := above(candidate); root != "" {
			return Origin{Dir: root}, nil
		}
	}
	return Origin{}, errors.New("this operon is not a released version, and the checkout that it was built from cannot be found: name a checkout of " +
		Library + " with --operon-source")
}

// At returns the origin that is a certain checkout.
func At(dir string) (Origin, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Origin{}, err
	}
	if !isCheckout(dir) {
		return Origin{}, fmt.Errorf("%s is not a checkout of %s: --operon-source takes the directory that has its go.mod", dir, Library)
	}
	return Origin{Dir: dir}, nil
}

// released is the version of the library that the command was built with, where it is one that others can get.
func released() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, dep := range info.Deps {
		if dep.Path == Library && dep.Replace == nil && semver.IsValid(dep.Version) && dep.Sum != "" {
			return dep.Version
		}
	}
	return ""
}

// above is the checkout that a directory is in, or "".
func above(dir string) string {
	for dir != "" {
		if isCheckout(dir) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return ""
}

func isCheckout(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && modfile.ModulePath(data) == Library
}
