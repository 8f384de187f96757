package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// binary is the operon under test: OPERON, or one that TestMain builds.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		if binary = os.Getenv("OPERON"); binary == "" {
			dir, err := os.MkdirTemp("", "operon-test-")
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			defer os.RemoveAll(dir)
			binary = filepath.Join(dir, "operon")
			if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binary, ".").CombinedOutput(); err != nil {
				fmt.Fprintf(os.Stderr, "go build: %v\n%s", err, out)
				return 1
			}
		}
		return m.Run()
	}())
}

// A process is a run of "operon cluster".
type process struct {
	cmd        *exec.Cmd
	stdin      io.WriteCloser
	stderr     *lockedBuffer
	kubeconfig string
	tmp        string

	ready  chan struct{}
	stdout []string // complete when exited is closed
	exited chan struct{}
	err    error
}

var readyLine = regexp.MustCompile(`^ready in [0-9.]+s; kubeconfig (\S+); use it with: export KUBECONFIG=\S+; \S+( kubectl)? get nodes$`)

// launch starts the command with a temporary directory of its own and does not wait for anything.
func launch(t testing.TB, args ...string) *process {
	t.Helper()
	p := &process{
		cmd:    exec.Command(binary, append([]string{"cluster", "--nodes=0"}, args...)...),
		stderr: &lockedBuffer{},
		tmp:    t.TempDir(),
		ready:  make(chan struct{}),
		exited: make(chan struct{}),
	}
	p.cmd.Env = append(os.Environ(), "TMPDIR="+p.tmp)
	p.cmd.Stderr = p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			p.stdout = append(p.stdout, lines.Text())
			if m := readyLine.FindStringSubmatch(lines.Text()); m != nil && p.kubeconfig == "" {
				p.kubeconfig = m[1]
				close(p.ready)
			}
		}
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-p.exited
	})
	return p
}

// start launches a cluster and waits until it says that it is ready.
func start(t testing.TB, args ...string) *process {
	t.Helper()
	p := launch(t, args...)
	select {
	case <-p.ready:
	case <-p.exited:
		t.Fatalf("cluster ended before it was ready: %v\n%s", p.err, p.stderr)
	case <-time.After(time.Minute):
		t.Fatalf("cluster is not ready after a minute\n%s", p.stderr)
	}
	return p
}

// interrupt presses Ctrl-C and returns how long the process took to end.
func (p *process) interrupt(t testing.TB) time.Duration {
	t.Helper()
	began := time.Now()
	p.cmd.Process.Signal(os.Interrupt)
	p.wait(t)
	return time.Since(began)
}

func (p *process) wait(t testing.TB) {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(30 * time.Second):
		p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.exited
		t.Fatalf("process did not end within 30s\n%s", p.stderr)
	}
}

func (p *process) exitCode() int {
	var exit *exec.ExitError
	if errors.As(p.err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

func (p *process) config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	return config
}

func (p *process) client(t testing.TB) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(p.config(t))
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// kubectl runs the binary's kubectl against the cluster.
func (p *process) kubectl(t testing.TB, stdin string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(binary, append([]string{"kubectl", "--kubeconfig", p.kubeconfig}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+p.tmp)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// eventually waits for what has no watch, or for which one would hide the point of the test.
func eventually(t testing.TB, within time.Duration, what string, done func(ctx context.Context) (bool, error)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	var last error
	for {
		ok, err := done(ctx)
		if ok {
			return
		}
		if err != nil {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not happen within %s: %v", what, within, last)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(data []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(data)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
