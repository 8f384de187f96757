package devloop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// A plane is a control plane of the loop's own, in a process that ends with the loop.
type plane struct {
	cmd   *exec.Cmd
	stdin io.Closer
	// ended is closed when the process has ended, with err set.
	ended chan struct{}
	err   error
}

// startPlane starts `operon cluster` and returns when it is ready. Its kubeconfig is written to a file; the cluster's state is kept in
// dataDir, if that is not empty. Progress goes to stderr.
func startPlane(ctx context.Context, operon, kubeconfig, dataDir string, nodes int, stderr io.Writer) (*plane, error) {
	args := []string{"cluster", "--stop-on-stdin-eof", "--kubeconfig", kubeconfig, "--nodes", strconv.Itoa(nodes)}
	if dataDir != "" {
		args = append(args, "--data-dir", dataDir)
	}
	p := &plane{cmd: exec.Command(operon, args...), ended: make(chan struct{})}
	p.cmd.Stderr = stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the loop
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("control plane: %w", err)
	}
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		ready <- lines.Scan() && strings.HasPrefix(lines.Text(), "ready")
		io.Copy(io.Discard, stdout)
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	select {
	case <-ctx.Done():
		p.stop()
		return nil, context.Cause(ctx)
	case ok := <-ready:
		if !ok {
			p.stop()
			return nil, errors.New("the control plane did not start: see its messages above")
		}
	}
	return p, nil
}

// stop ends the plane and waits for it.
func (p *plane) stop() error {
	p.stdin.Close()
	<-p.ended
	return p.err
}
