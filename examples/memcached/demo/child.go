package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	stopTime = 10 * time.Second // for a child to end by itself once it was asked to
	logLines = 12               // of a child that are kept for an error message
)

// child is a process of the demo's. It must be stopped.
//
// Should the demo be killed without a chance to stop its children, they end all the same: the cluster at the end of
// its standard input, and the operator, which then has something to log about, for want of a reader of its log.
type child struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.Closer
	stdout io.Reader
	log    *tail
	file   *os.File      // has all of the log; may be nil
	ended  chan struct{} // closed when the process is gone
	err    error         // how it ended; to be read after ended is closed
}

// startChild starts a program with env added to the environment, and everything it says on stderr written to logFile,
// unless that is empty.
func startChild(name, path string, args, env []string, logFile string) (*child, error) {
	c := &child{name: name, cmd: exec.Command(path, args...), log: &tail{}, ended: make(chan struct{})}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.SysProcAttr = ownGroup() // so that Ctrl-C reaches the demo alone, which stops its children in order
	c.cmd.WaitDelay = time.Second
	c.cmd.Stderr = c.log
	if logFile != "" {
		file, err := os.Create(logFile)
		if err != nil {
			return nil, err
		}
		c.file = file
		c.cmd.Stderr = io.MultiWriter(c.log, file)
	}
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	c.stdin = stdin
	stdout, stdoutWriter := io.Pipe()
	c.stdout, c.cmd.Stdout = stdout, stdoutWriter
	if err := c.cmd.Start(); err != nil {
		if c.file != nil {
			c.file.Close()
		}
		return nil, err
	}
	go func() {
		defer close(c.ended)
		c.err = c.cmd.Wait()
		stdoutWriter.Close()
		if c.file != nil {
			c.file.Close()
		}
	}()
	return c, nil
}

// awaitReady waits for the line on stdout that starts with "ready", and lets the rest of stdout go by.
func (c *child) awaitReady(ctx context.Context) error {
	ready := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(c.stdout)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "ready") {
				close(ready)
				break
			}
		}
		_, _ = io.Copy(io.Discard, c.stdout) // ends with the process
	}()
	select {
	case <-ready:
		return nil
	case <-c.ended:
		return c.endedEarly()
	case <-ctx.Done():
		return fmt.Errorf("the %s does not say that it is ready", c.name)
	}
}

// endedEarly is the error of a child that has ended without being asked to.
func (c *child) endedEarly() error {
	if c.err != nil {
		return fmt.Errorf("the %s ended by itself (%w)", c.name, c.err)
	}
	return fmt.Errorf("the %s ended by itself", c.name)
}

// lastLines are the last lines of the child's log, each indented.
func (c *child) lastLines() string { return c.log.indented() }

// stop returns when the process is gone.
func (c *child) stop() {
	c.stdin.Close()
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // already gone: just as well
	select {
	case <-c.ended:
	case <-time.After(stopTime):
		_ = c.cmd.Process.Kill()
		<-c.ended
	}
}

// tail is a writer that remembers the last lines.
type tail struct {
	mu    sync.Mutex
	lines []string
	rest  []byte // of a line that has not ended
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rest = append(t.rest, p...)
	for {
		line, rest, found := bytes.Cut(t.rest, []byte("\n"))
		if !found {
			return len(p), nil
		}
		t.lines = append(t.lines, string(line))
		t.lines = slices.Delete(t.lines, 0, max(0, len(t.lines)-logLines))
		t.rest = rest
	}
}

func (t *tail) indented() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := t.lines
	if len(t.rest) > 0 {
		lines = append(slices.Clone(lines), string(t.rest))
	}
	if len(lines) == 0 {
		return ""
	}
	return "    " + strings.Join(lines, "\n    ")
}
