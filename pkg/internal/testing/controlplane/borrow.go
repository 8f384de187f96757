package controlplane

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Shared control planes are found through the Unix sockets in a directory for
// each binary and set of arguments. Who connects has the control plane for
// himself until the connection ends; it is reset after that, and ends when nobody has come for idleTime.
const (
	sharedPrefix = "operon-shared-"
	socketSuffix = ".sock"
	idleTime     = time.Minute
	connectPause = 5 * time.Millisecond
)

var (
	errBusy = errors.New("the control plane is borrowed by somebody else")
	errGone = errors.New("the control plane is ending")
)

// lease is a borrowed control plane.
type lease struct {
	conn  *net.UnixConn
	lines chan string
}

func (l *lease) send(order string) error {
	_, err := l.conn.Write([]byte(order + "\n"))
	return err
}

func (l *lease) answers() <-chan string { return l.lines }

// close waits until the control plane has been reset, so that who comes next finds it free.
func (l *lease) close(timeout time.Duration) error {
	err := l.conn.CloseWrite()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case _, more := <-l.lines:
			if !more {
				return errors.Join(err, l.conn.Close())
			}
		case <-timer.C:
			return errors.Join(err, fmt.Errorf("the shared control plane was not reset within %s", timeout), l.hangUp())
		}
	}
}

// hangUp closes the connection, and returns when nobody reads from it any more.
func (l *lease) hangUp() error {
	err := l.conn.Close()
	for range l.lines {
	}
	return err
}

// borrow takes a control plane that nobody uses, or starts one.
func borrow(ctx context.Context, binary string, args []string) (*together, error) {
	dir, err := sharedDir(binary, args)
	if err != nil {
		return nil, fmt.Errorf("shared control planes: %w", err)
	}
	sockets, err := filepath.Glob(filepath.Join(dir, "*"+socketSuffix))
	if err != nil {
		return nil, err
	}
	for _, socket := range sockets {
		t, err := connect(ctx, socket)
		if err == nil {
			return t, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("shared control plane: %w", ctx.Err())
		}
		if !errors.Is(err, errBusy) && !errors.Is(err, errGone) {
			// Nobody listens: what had made it was killed.
			_ = os.Remove(socket)
		}
	}
	for {
		socket, err := newSocket(dir)
		if err != nil {
			return nil, err
		}
		t, err := lendAndBorrow(ctx, binary, args, socket)
		if !errors.Is(err, errBusy) {
			return t, err
		}
	}
}

// sharedDir returns the directory for the binary and arguments. Nobody else can enter it.
func sharedDir(binary string, args []string) (string, error) {
	info, err := os.Stat(binary)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d %q", binary, info.Size(), info.ModTime().UnixNano(), args))
	top := filepath.Join(os.TempDir(), fmt.Sprintf("%s%d", sharedPrefix, os.Getuid()))
	dir := filepath.Join(top, hex.EncodeToString(sum[:6]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	for _, path := range []string{top, dir} {
		// This fails where the directory is somebody else's.
		if err := os.Chmod(path, 0o700); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func newSocket(dir string) (string, error) {
	f, err := os.CreateTemp(dir, "*"+socketSuffix+".log")
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(f.Name(), ".log"), f.Close()
}

// lendAndBorrow starts a control plane that lends itself and borrows it.
func lendAndBorrow(ctx context.Context, binary string, args []string, socket string) (*together, error) {
	log := socket + ".log"
	ended, err := startDetached(binary, append([]string{"cluster", "--lend=" + socket, "--idle=" + idleTime.String()}, args...), log)
	defer func() { _ = os.Remove(log) }()
	if err != nil {
		return nil, err
	}
	defer ended.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		// Where the command ends, nobody will answer.
		if ended.wait() {
			cancel()
		}
	}()
	for {
		t, err := connect(ctx, socket)
		if err == nil || errors.Is(err, errBusy) {
			return t, err
		}
		select {
		case <-ctx.Done():
			said, _ := os.ReadFile(log)
			return nil, fmt.Errorf("shared control plane was not ready: %w; its output:\n\t%s", err, strings.ReplaceAll(strings.TrimSpace(string(said)), "\n", "\n\t"))
		case <-time.After(connectPause):
		}
	}
}

// connect borrows the control plane behind a socket. The error is errBusy or
// errGone where somebody answers.
func connect(ctx context.Context, socket string) (*together, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	l := &lease{conn: conn.(*net.UnixConn), lines: make(chan string, 1)}
	go func() {
		defer close(l.lines)
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			l.lines <- lines.Text()
		}
	}()
	kubeconfig, err := l.greeting(ctx)
	if err != nil {
		return nil, errors.Join(err, l.hangUp())
	}
	admin, err := loadAdmin(kubeconfig)
	if err != nil {
		return nil, errors.Join(err, l.hangUp())
	}
	return &together{link: l, admin: admin, dir: filepath.Dir(kubeconfig)}, nil
}

func (l *lease) greeting(ctx context.Context) (kubeconfig string, err error) {
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case line, more := <-l.lines:
		path, free := strings.CutPrefix(line, "kubeconfig ")
		switch {
		case !more:
			return "", errGone
		case !free:
			return "", errBusy
		}
		return path, nil
	}
}
