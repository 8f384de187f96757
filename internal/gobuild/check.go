package gobuild

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// Check returns an error where pkg is no program, or where settings of a person's own keep go from building it in the directory dir: a
// workspace, the way modules are found, flags. It says the way out, for which what go says has to be translated. Env is the environment; nil
// means that of this process. What is wrong with the code is for the build to say.
func Check(ctx context.Context, dir, pkg string, env []string) error {
	names, said, err := goSays(ctx, dir, env, "list", "-f", "{{.Name}}", pkg)
	switch found := strings.Fields(names); {
	case err == nil && len(found) > 1:
		return fmt.Errorf("%s is %d packages: name the one that is the program", pkg, len(found))
	case err == nil && len(found) == 1 && found[0] != "main":
		return fmt.Errorf("%s is package %s, which is not a program: name the directory of a package main", pkg, found[0])
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || said == "" {
		return err
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(said, "go: "), "\n")
	first = strings.TrimSuffix(strings.TrimSpace(first), ":")
	setting := func(name string) string {
		value, _, _ := goSays(ctx, dir, env, "env", name) // without an answer the sentence is shorter
		return strings.TrimSpace(value)
	}
	has := func(texts ...string) bool {
		for _, text := range texts {
			if strings.Contains(said, text) {
				return true
			}
		}
		return false
	}
	// A cache that lacks nothing is never written. Where it lacks something, go lists what it can, and then cannot build.
	if has("read-only file system", "permission denied", "not a directory") {
		if cache := setting("GOMODCACHE"); cache != "" && has(cache) {
			return fmt.Errorf("modules are missing from Go's module cache %s, which cannot be written: set GOMODCACHE to a directory that can be", cache)
		}
	}
	if err == nil {
		return nil
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	switch {
	case has("not one of the workspace modules"):
		return fmt.Errorf("the Go workspace %s does not list this project: set GOWORK=off, or run `go work use %s` beside it", setting("GOWORK"), abs)
	case has("$GOFLAGS"):
		return fmt.Errorf("this Go does not accept GOFLAGS=%q: change it, or unset it: %s", setting("GOFLAGS"), first)
	case has("-mod may only be set to"):
		return fmt.Errorf("GOFLAGS=%q does not go with the Go workspace %s: set GOWORK=off, or leave -mod out of GOFLAGS", setting("GOFLAGS"), setting("GOWORK"))
	case has("inconsistent vendoring", "-mod=vendor", "modules.txt"):
		return fmt.Errorf("the directory vendor does not hold what go.mod requires, and go builds from it because it is there or because GOFLAGS has -mod=vendor: run `go mod vendor`, or set GOFLAGS=-mod=mod")
	case has("go.work"):
		return fmt.Errorf("the Go workspace of GOWORK=%s cannot be used: mend it, or set GOWORK=off: %s", setting("GOWORK"), first)
	}
	return nil
}

// goSays is what a go command prints, and what it says besides.
func goSays(ctx context.Context, dir string, env []string, args ...string) (out, said string, err error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, env
	var printed, besides strings.Builder
	cmd.Stdout, cmd.Stderr = &printed, &besides
	err = cmd.Run()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return printed.String(), besides.String(), err
}
