package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// children are what this program is when it runs as a child of itself: for
// measures that need a process of their own, such as its peak memory. What a
// child prints is its answer.
var children = map[string]func(ctx context.Context, args []string) error{}

// runChild is the child's side.
func runChild(ctx context.Context, args []string) error {
	if len(args) == 0 || children[args[0]] == nil {
		return fmt.Errorf("-child %s: want one of %s", strings.Join(args, " "), strings.Join(slices.Sorted(maps.Keys(children)), ", "))
	}
	return children[args[0]](ctx, args[1:])
}

// inChild runs a child to its end and returns what it has printed.
func inChild(ctx context.Context, args ...string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, self, append([]string{"-child"}, args...)...)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("child %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return stdout.String(), nil
}
