package envtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// keptOutput is how many bytes of the command's last output are kept for an error message.
const keptOutput = 16 << 10

// plane is a running operon command.
type plane struct {
	cmd   *exec.Cmd
	stdin io.Closer
	log   *tail

	ended chan struct{} // closed when the process is gone and its output read
	err   error         // how it ended; read after ended
}

// findBinary returns the path of the operon command.
func findBinary() (string, error) {
	const advice = "build it with `make build` in a checkout of Operon and `export OPERON=<checkout>/bin/operon`, or put it on PATH"
	if path := os.Getenv(envBinary); path != "" {
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		if _, err := exec.LookPath(abs); err != nil {
			return "", fmt.Errorf("OPERON=%s does not name the operon command (%w): %s", path, err, advice)
		}
		return abs, nil
	}
	path, err := exec.LookPath("operon")
	if err != nil {
		return "", fmt.Errorf("the operon command, which runs the control plane of tests, was not found: %s", advice)
	}
	return filepath.Abs(path)
}

// startPlane runs the command and returns when it says it is ready. If it ends
// or ctx is done before that, the process is gone when startPlane returns.
func startPlane(ctx context.Context, binary string, args []string, logs io.Writer) (*plane, error) {
	p := &plane{
		cmd:   exec.Command(binary, args...),
		log:   &tail{limit: keptOutput, next: logs},
		ended: make(chan struct{}),
	}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	ready := &readyLine{seen: make(chan struct{}), log: p.log}
	p.cmd.Stdout, p.cmd.Stderr = ready, p.log
	p.cmd.SysProcAttr = childAttributes()
	// A grandchild that keeps the pipes open must not keep us.
	p.cmd.WaitDelay = 2 * time.Second

	started := make(chan error, 1)
	go func() {
		defer close(p.ended)
		// The signal a child gets when its parent dies is tied, on Linux, to the
		// thread that started it: this one has to last as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		<-p.ended
		return nil, fmt.Errorf("start %s: %w", binary, err)
	}

	select {
	case <-ready.seen:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("control plane ended before it was ready (%s)%s", howItEnded(p.err), p.log.quote())
	case <-ctx.Done():
		p.kill()
		return nil, fmt.Errorf("control plane was not ready in time: %w%s", ctx.Err(), p.log.quote())
	}
}

// stop asks the command to end by closing its standard input, waits for it,
// and kills it when the timeout is over.
func (p *plane) stop(timeout time.Duration) error {
	select {
	case <-p.ended:
		return fmt.Errorf("control plane had ended by itself (%s)%s", howItEnded(p.err), p.log.quote())
	default:
	}
	// A process that ends at this moment closes the pipe first; that is no error.
	if err := p.stdin.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		p.kill()
		return err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.kill()
		return fmt.Errorf("control plane did not stop within %s and was killed%s", timeout, p.log.quote())
	}
	if p.err != nil {
		return fmt.Errorf("control plane stopped badly (%s)%s", howItEnded(p.err), p.log.quote())
	}
	return nil
}

func (p *plane) kill() {
	// The only error is that the process is gone already.
	_ = p.cmd.Process.Kill()
	<-p.ended
}

func howItEnded(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// readyLine watches standard output for the line that says the control plane
// is ready. Everything else goes to the log.
type readyLine struct {
	seen chan struct{}
	log  io.Writer

	line []byte
	done bool
}

func (r *readyLine) Write(b []byte) (int, error) {
	n := len(b)
	for !r.done && len(b) > 0 {
		head, rest, whole := bytes.Cut(b, []byte("\n"))
		r.line = append(r.line, head...)
		b = rest
		if !whole {
			break
		}
		if bytes.HasPrefix(r.line, []byte("ready")) {
			r.done = true
			close(r.seen)
		} else if _, err := r.log.Write(append(r.line, '\n')); err != nil {
			return 0, err
		}
		r.line = r.line[:0]
	}
	if r.done && len(b) > 0 {
		if _, err := r.log.Write(b); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// tail keeps the last bytes written to it and passes all of them on.
type tail struct {
	limit int
	next  io.Writer

	mu      sync.Mutex
	kept    []byte
	dropped bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - t.limit; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
		t.dropped = true
	}
	if t.next != nil {
		return t.next.Write(b)
	}
	return len(b), nil
}

// quote returns what was kept as an appendix to an error message.
func (t *tail) quote() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.kept)
	if t.dropped {
		// The first line is cut somewhere: leave it out.
		_, text, _ = strings.Cut(text, "\n")
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return "; it wrote nothing"
	}
	return "; its last output:\n\t" + strings.ReplaceAll(text, "\n", "\n\t")
}
