package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/operon-dev/operon/internal/gobuild"
)

// patience is how long a compilation may take before it shows how far it is.
const patience = 2 * time.Second

// variants are those that Go compiles for, by architecture: values of GOARM, GOAMD64 and, in part, GOARM64.
var variants = map[string][]string{
	"amd64": {"v1", "v2", "v3", "v4"},
	"arm":   {"v5", "v6", "v7"},
	"arm64": {"v8"},
}

func orOneOf(variants []string) string {
	if len(variants) == 0 {
		return ""
	}
	return ", or take one of " + strings.Join(variants, ", ")
}

// ParsePlatforms reads a comma-separated list of platforms.
func ParsePlatforms(list string) ([]v1.Platform, error) {
	var platforms []v1.Platform
	seen := map[string]bool{}
	for _, text := range strings.Split(list, ",") {
		text = strings.TrimSpace(text)
		p, err := v1.ParsePlatform(text)
		if err != nil || p.OS == "" || p.Architecture == "" {
			return nil, fmt.Errorf("platform %q: write operating system and architecture, for example linux/amd64,linux/arm64", text)
		}
		if p.OS != "linux" {
			return nil, fmt.Errorf("platform %q: images are made for linux only", text)
		}
		if known := variants[p.Architecture]; p.Variant != "" && !slices.Contains(known, p.Variant) {
			return nil, fmt.Errorf("platform %q: Go knows no such variant: leave it out%s", text, orOneOf(known))
		}
		if p.OSVersion != "" || len(p.OSFeatures) > 0 {
			return nil, fmt.Errorf("platform %q: an image for linux has no version of its system: leave it out", text)
		}
		if seen[p.String()] {
			return nil, fmt.Errorf("platform %s is listed twice", p)
		}
		seen[p.String()] = true
		platforms = append(platforms, *p)
	}
	return platforms, nil
}

// environment is that of go commands for a platform.
func environment(p v1.Platform) []string {
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Architecture)
	switch p.Architecture { // arm/v7 is GOARM=7; amd64/v3 is GOAMD64=v3; arm64/v8 is what there is
	case "arm":
		if p.Variant != "" {
			env = append(env, "GOARM="+strings.TrimPrefix(p.Variant, "v"))
		}
	case "amd64":
		if p.Variant != "" {
			env = append(env, "GOAMD64="+p.Variant)
		}
	}
	return env
}

// compilable returns an error where the Go of the project in root, or its settings, cannot compile the package pkg for a platform. It compiles nothing.
func compilable(ctx context.Context, root, pkg string, p v1.Platform) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-n", "unsafe")
	cmd.Dir, cmd.Env = root, environment(p)
	said, err := cmd.CombinedOutput()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("no Go to compile with: install Go and put its bin directory on PATH: %w", err)
	case err != nil && strings.Contains(string(said), "unsupported GOOS/GOARCH"):
		return fmt.Errorf("platform %s: Go cannot compile for it; `go tool dist list` shows those that it can", p)
	}
	return gobuild.Check(ctx, root, pkg, cmd.Env) // what else is wrong, the build says better
}

// compile builds the package pkg of the project in root for a platform into the file binary. How far it is, and what go itself says, goes
// to stderr.
func compile(ctx context.Context, root, pkg string, p v1.Platform, binary string, stderr io.Writer) error {
	build := gobuild.Build{
		Name: pkg + " for " + p.String(), Dir: root, Package: pkg, Output: binary, Env: gobuild.Roomy(environment(p)), Patience: patience,
		// Neither paths nor the state of the checkout may show in the binary: they differ from clone to clone. What -s and -w leave out of it, the
		// compiler need not make.
		Flags: []string{"-trimpath", "-buildvcs=false", "-gcflags=all=-dwarf=false", "-ldflags=-s -w -buildid="},
	}
	if _, err := build.Run(ctx, stderr); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s does not compile for %s: what go says is above", pkg, p)
	}
	return nil
}
