package devloop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/operon-dev/operon/cmd/operon/devloop/child"
)

// grace is how long a manager may take to end in good order: as long as Kubernetes gives a pod.
const grace = 30 * time.Second

// A manager is a running process of the operator.
type manager struct {
	cmd *exec.Cmd
	// ended is closed when the process has ended, with err set.
	ended chan struct{}
	err   error
}

// A log takes what a manager prints.
type log interface {
	io.Writer
	// Flush writes what has not been written when the manager has ended.
	Flush() error
}

// rawLog passes everything on as it is.
type rawLog struct{ io.Writer }

func (rawLog) Flush() error { return nil }

// startManager starts a binary with arguments and further environment variables; what it prints goes to out.
func startManager(dir, binary string, args, env []string, out log) (*manager, error) {
	m := &manager{cmd: exec.Command(binary, args...), ended: make(chan struct{})}
	m.cmd.Dir = dir
	m.cmd.Env = append(os.Environ(), env...)
	m.cmd.Stdout, m.cmd.Stderr = out, out
	m.cmd.SysProcAttr = child.Attributes()
	m.cmd.WaitDelay = time.Second // for what a child of the manager still prints
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	go func() {
		m.err = m.cmd.Wait()
		if errors.Is(m.err, exec.ErrWaitDelay) {
			m.err = nil // the manager itself has ended well
		}
		m.err = errors.Join(m.err, out.Flush())
		close(m.ended)
	}()
	return m, nil
}

// stop asks the process to end and waits for it; after the grace period, or a cancelled ctx, it is killed.
func (m *manager) stop(ctx context.Context) {
	m.cmd.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	patience := time.NewTimer(grace)
	defer patience.Stop()
	select {
	case <-m.ended:
		return
	case <-patience.C:
	case <-ctx.Done():
	}
	syscall.Kill(-m.cmd.Process.Pid, syscall.SIGKILL) // the group: whatever it started
	<-m.ended
}

// running reports whether the process has not ended.
func (m *manager) running() bool {
	if m == nil {
		return false
	}
	select {
	case <-m.ended:
		return false
	default:
		return true
	}
}

// ending says how the process ended by itself.
func (m *manager) ending() string {
	if m.err == nil {
		return "the manager ended by itself"
	}
	return "the manager ended: " + m.err.Error()
}
