package main

import (
	"bufio"
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

// childProcess is a child that runs.
type childProcess struct {
	command *exec.Cmd
	output  *bufio.Scanner
	said    bytes.Buffer // on standard error
}

// startChild starts a child. It ends with ctx, unless it is killed before.
func startChild(ctx context.Context, args ...string) (*childProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &childProcess{command: exec.CommandContext(ctx, self, append([]string{"-child"}, args...)...)}
	c.command.Stderr = &c.said
	output, err := c.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.output = bufio.NewScanner(output)
	return c, c.command.Start()
}

// awaitLine returns what the child prints next.
func (c *childProcess) awaitLine() (string, error) {
	if !c.output.Scan() {
		return "", fmt.Errorf("the child ended: %w: %s", c.command.Wait(), bytes.TrimSpace(c.said.Bytes()))
	}
	return c.output.Text(), nil
}

// kill ends the child without a word, as when a machine fails, and returns when it is gone.
func (c *childProcess) kill() error {
	err := c.command.Process.Kill()
	_ = c.command.Wait() // says that it was killed
	return err
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
