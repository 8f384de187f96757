package child

import (
	"context"
	"os"
	"os/exec"
	"syscall"
)

// Attributes puts a process into a group of its own, so that Ctrl-C reaches the loop alone, and lets the kernel end it when the loop dies
// without having done so, where the kernel has such a service: elsewhere a killed loop leaves its children running.
func Attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(attr)
	return attr
}

// Command is a command that works in dir with further environment variables. When ctx ends it is killed, and what it has started with it.
func Command(ctx context.Context, dir string, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	Bind(cmd)
	return cmd
}

// Bind makes a command, which has a context and has not started yet, one that is killed when the context ends, and what it has started with it.
func Bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = Attributes()
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
