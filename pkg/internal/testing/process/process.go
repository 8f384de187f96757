package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// keptOutput is how many bytes of a program's last output are kept for an error message.
const keptOutput = 16 << 10

// A grandchild that keeps the pipes open must not keep us.
const pipesAfterEnd = 2 * time.Second

// Command says what to run.
type Command struct {
	// Name is what error messages call the program. It is also the name that
	// the program finds itself called by.
	Name string
	// Path is the binary.
	Path string
	Args []string
	// Stdout and Stderr receive what the program writes. Nil drops it, but for
	// what is kept for error messages.
	Stdout, Stderr io.Writer
	// Ready returns when the program can be used. Its context ends when the
	// program does. lines are those that the program writes on standard output;
	// where they end, Ready returns ErrOutputEnded.
	Ready func(ctx context.Context, lines <-chan string) error
}

// ErrOutputEnded says that a program has closed its standard output, which it does when it ends.
var ErrOutputEnded = errors.New("its output has ended")

// Process is a running program.
type Process struct {
	name   string
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *lines
	log    *tail

	ended chan struct{} // closed when the process is gone and its output read
	err   error         // how it ended; read after ended
}

// Start runs the command and returns when it is ready. If it ends or ctx is
// done before that, the process is gone when Start returns.
func Start(ctx context.Context, c Command) (*Process, error) {
	log := &tail{limit: keptOutput, next: c.Stderr}
	p := &Process{
		name:   c.Name,
		cmd:    exec.Command(c.Path, c.Args...),
		stdout: newLines(log, c.Stdout),
		log:    log,
		ended:  make(chan struct{}),
	}
	p.cmd.Args[0] = c.Name
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, log
	p.cmd.SysProcAttr = childAttributes()
	p.cmd.WaitDelay = pipesAfterEnd

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
		p.stdout.close()
	}()
	if err := <-started; err != nil {
		<-p.ended
		return nil, fmt.Errorf("start %s: %w", c.Path, err)
	}
	if err := p.await(ctx, c.Ready); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Process) await(ctx context.Context, ready func(context.Context, <-chan string) error) error {
	watched, cancel := context.WithCancel(ctx)
	defer cancel()
	result := make(chan error, 1)
	go func() { result <- ready(watched, p.stdout.out) }()
	select {
	case err := <-result:
		if err == nil {
			return nil
		}
		if errors.Is(err, ErrOutputEnded) {
			<-p.ended
			return p.endedEarly()
		}
		p.Kill()
		return fmt.Errorf("%s: %w%s", p.name, err, p.log.quote())
	case <-p.ended:
		cancel()
		<-result
		return p.endedEarly()
	case <-ctx.Done():
		p.Kill()
		<-result
		return fmt.Errorf("%s was not ready in time: %w%s", p.name, ctx.Err(), p.log.quote())
	}
}

func (p *Process) endedEarly() error {
	return fmt.Errorf("%s ended before it was ready (%s)%s", p.name, howItEnded(p.err), p.log.quote())
}

// Ended is closed when the program is gone.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Lines are what the program writes on standard output. The channel is closed when
// the program has ended; where nobody reads, the last few lines are kept.
func (p *Process) Lines() <-chan string { return p.stdout.out }

// Send writes to the program's standard input.
func (p *Process) Send(text string) error {
	_, err := io.WriteString(p.stdin, text)
	return err
}

// Interrupt asks a program to end that waits for signals.
func Interrupt(p *Process) error { return p.cmd.Process.Signal(os.Interrupt) }

// CloseStdin asks a program to end that waits for the end of its standard input.
func CloseStdin(p *Process) error { return p.stdin.Close() }

// Stop asks the program to end, waits for it, and kills it when the timeout is
// over. A program that had ended already is an error, as is one that says it failed.
func (p *Process) Stop(ask func(*Process) error, timeout time.Duration) error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s had ended by itself (%s)%s", p.name, howItEnded(p.err), p.log.quote())
	default:
	}
	// A process that ends at this moment closes the pipe first; that is no error.
	if err := ask(p); err != nil && !errors.Is(err, os.ErrClosed) && !errors.Is(err, os.ErrProcessDone) {
		p.Kill()
		return err
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("%s did not stop within %s and was killed%s", p.name, timeout, p.log.quote())
	}
	if p.err != nil && !p.interrupted() {
		return fmt.Errorf("%s stopped badly (%s)%s", p.name, howItEnded(p.err), p.log.quote())
	}
	return nil
}

// interrupted says whether the program ended by the signal that Interrupt sends, which some do when all their work is done.
func (p *Process) interrupted() bool {
	status, known := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	return known && status.Signaled() && status.Signal() == syscall.SIGINT
}

// Kill ends the program at once and waits until it is gone.
func (p *Process) Kill() {
	// The only error is that the process is gone already.
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// PID is the program's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

func howItEnded(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}
