//go:build unix

package controlplane

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// detached is a program that outlives us.
type detached struct{ alive *os.File }

// startDetached starts a program in a session of its own. What it says goes to the log file.
func startDetached(binary string, args []string, log string) (*detached, error) {
	out, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = out.Close() }()
	// The program holds the other end of a pipe as long as it lives.
	alive, held, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(binary, args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, []*os.File{held}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	err = errors.Join(err, held.Close())
	if err == nil {
		err = cmd.Process.Release()
	}
	if err != nil {
		return nil, errors.Join(err, alive.Close())
	}
	return &detached{alive: alive}, nil
}

// wait returns whether the program has ended, when it has or when close was called.
func (d *detached) wait() bool {
	_, err := d.alive.Read(make([]byte, 1))
	return !errors.Is(err, os.ErrClosed)
}

// close stops watching.
func (d *detached) close() { _ = d.alive.Close() }
