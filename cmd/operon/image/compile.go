package image

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

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
		if seen[p.String()] {
			return nil, fmt.Errorf("platform %s is listed twice", p)
		}
		seen[p.String()] = true
		platforms = append(platforms, *p)
	}
	return platforms, nil
}

// compile builds the package pkg of the project in root for a platform into the file binary. What go itself says goes to
// stderr.
func compile(ctx context.Context, root, pkg string, p v1.Platform, binary string, stderr io.Writer) error {
	env := append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.OS, "GOARCH="+p.Architecture)
	if p.Variant != "" {
		// arm/v7 is GOARM=7; amd64/v3 is GOAMD64=v3.
		switch p.Architecture {
		case "arm":
			env = append(env, "GOARM="+strings.TrimPrefix(p.Variant, "v"))
		case "amd64":
			env = append(env, "GOAMD64="+p.Variant)
		case "arm64":
			if p.Variant != "v8" {
				return fmt.Errorf("platform %s: Go knows no such variant", p)
			}
		}
	}
	// Neither paths nor the state of the checkout may show in the binary: they differ from clone to clone.
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", binary, pkg)
	cmd.Dir, cmd.Env = root, env
	var said bytes.Buffer
	cmd.Stderr = io.MultiWriter(stderr, &said)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if cmd.ProcessState == nil {
			return fmt.Errorf("no Go to compile with: install Go and put its bin directory on PATH: %w", err)
		}
		if bytes.Contains(said.Bytes(), []byte("unsupported GOOS/GOARCH")) {
			return fmt.Errorf("platform %s: Go cannot compile for it; `go tool dist list` shows those that it can", p)
		}
		return fmt.Errorf("%s does not compile for %s: what go says is above", pkg, p)
	}
	return nil
}
