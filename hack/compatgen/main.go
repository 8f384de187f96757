// Command compatgen writes compat/controller-runtime: a module that is called sigs.k8s.io/controller-runtime and holds
// nothing but aliases of Operon's packages.
//
//	go run ./hack/compatgen     from the repository's root, after a change to what a package of the library exports
//
// Every public package of the library becomes one of the same path below that module, in one file, zz_generated.go:
//
//   - a type, generic or not, becomes an alias, so that it is the same type;
//   - a function becomes one of the same signature that calls it;
//   - a constant becomes a constant of the same type and value;
//   - a variable becomes one that has the same value when the program starts. What is behind it (a logger, a registry, a
//     function) is shared; an assignment to one of the two doesn't reach the other.
//
// A function whose signature names a type that no other module can name becomes a variable that holds it. Where that
// can't be done, because the function is generic, compatgen fails and says which it is.
//
// Files of packages that are gone are removed, and go.mod is tidied, which asks for nothing that the library doesn't need.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	library   = "github.com/operon-dev/operon"
	module    = "sigs.k8s.io/controller-runtime"
	generated = "zz_generated.go"
)

func main() {
	root := flag.String("root", ".", "the repository's root")
	flag.Parse()
	if err := write(*root); err != nil {
		fmt.Fprintln(os.Stderr, "compatgen:", err)
		os.Exit(1)
	}
}

// target is the directory of the generated module.
func target(root string) string { return filepath.Join(root, "compat", "controller-runtime") }

func write(root string) error {
	want, err := generate(root)
	if err != nil {
		return err
	}
	dir := target(root)
	have, err := committed(dir)
	if err != nil {
		return err
	}
	for name := range have {
		if _, ok := want[name]; !ok {
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(name))); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if bytes.Equal(have[name], want[name]) {
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, want[name], 0o644); err != nil {
			return err
		}
	}
	_, err = goCommand(dir, "mod", "tidy")
	return err
}

// generate returns the module's Go files, by their path below it.
func generate(root string) (map[string][]byte, error) {
	pkgs, err := load(root)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, p := range pkgs {
		src, err := p.render()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.types.Path(), err)
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p.types.Path(), library), "/")
		files[strings.TrimPrefix(rel+"/"+generated, "/")] = src
	}
	return files, nil
}

// committed returns the Go files that are in dir, by their path below it.
func committed(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	return files, err
}

// goCommand runs the go command in dir, with that directory's module as the main one, and returns what it prints.
func goCommand(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, exit.Stderr)
	}
	return out, err
}
