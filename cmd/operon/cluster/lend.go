package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/operon-dev/operon/cmd/operon/cluster/etcd"
)

// lender lends a cluster through a Unix socket to one borrower at a time. A borrower is a connection: it reads "kubeconfig PATH", gives
// orders, and gives the cluster back by closing, or by being killed. Whoever comes meanwhile reads "busy". A cluster that comes back is reset
// to what it was at first; one that nobody has borrowed for a while ends.
type lender struct {
	cluster  *Cluster
	listener net.Listener
	idle     time.Duration
	first    *etcd.Mark
}

// A loan is a borrower's time with the cluster. The zero value is nobody's.
type loan struct {
	returned chan struct{} // closed when the borrower has gone
	back     chan error    // receives when the cluster is as it was
}

func (n *loan) isOut() bool {
	if n.returned == nil {
		return false
	}
	select {
	case <-n.returned:
		return false
	default:
		return true
	}
}

var errIdle = errors.New("nobody has borrowed the cluster for a while")

const socketMode = 0o600

// listenToBorrowers takes the socket, in a directory that only its owner may enter.
func listenToBorrowers(socket string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
		return nil, fmt.Errorf("directory of socket %s cannot be made (%w): choose another --lend", socket, err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		return nil, fmt.Errorf("socket %s cannot be made (%w): choose another --lend", socket, err)
	}
	if err := os.Chmod(socket, socketMode); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// run lends until ctx ends or nobody has come for the idle time, which is errIdle. Any other error is about a cluster that
// could not be reset and must not be lent again.
func (l *lender) run(ctx context.Context) error {
	first, err := l.cluster.Mark(ctx)
	if err != nil {
		return err
	}
	l.first = first
	ctx, cancel := context.WithCancel(ctx)
	arrivals, accepting := make(chan net.Conn), make(chan struct{})
	go func() {
		defer close(accepting)
		l.accept(ctx, arrivals)
	}()
	now := &loan{}
	defer func() {
		cancel()
		l.listener.Close()
		<-accepting
		if now.back != nil {
			<-now.back
		}
	}()
	timer := time.NewTimer(l.idle)
	defer timer.Stop()
	for {
		select {
		case conn := <-arrivals:
			timer.Stop()
			if now, err = l.handOver(ctx, conn, now); err != nil {
				return err
			}
		case err := <-now.back:
			now = &loan{}
			if err != nil {
				return err
			}
			timer.Reset(l.idle)
		case <-timer.C:
			return errIdle
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// handOver lends the cluster to whoever has come, unless somebody has it, and returns who has it then. It waits for a cluster that has come
// back, which takes milliseconds, until it is as it was.
func (l *lender) handOver(ctx context.Context, conn net.Conn, now *loan) (*loan, error) {
	if now.isOut() {
		fmt.Fprintln(conn, "busy")
		conn.Close()
		return now, nil
	}
	if now.back != nil {
		if err := <-now.back; err != nil {
			conn.Close()
			return &loan{}, err
		}
	}
	next := &loan{returned: make(chan struct{}), back: make(chan error, 1)}
	go func() { next.back <- l.lend(ctx, conn, next.returned) }()
	return next, nil
}

func (l *lender) accept(ctx context.Context, arrivals chan<- net.Conn) {
	for {
		conn, err := l.listener.Accept()
		if err != nil {
			return
		}
		select {
		case arrivals <- conn:
		case <-ctx.Done():
			conn.Close()
			return
		}
	}
}

// lend serves one borrower and makes the cluster what it was at first.
func (l *lender) lend(ctx context.Context, conn net.Conn, returned chan<- struct{}) error {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, "kubeconfig", l.cluster.Kubeconfig()); err == nil {
		// However the borrower goes, the cluster is back.
		_ = (&orders{cluster: l.cluster}).serve(ctx, conn, conn)
	}
	close(returned)
	if ctx.Err() != nil {
		return nil
	}
	if err := l.cluster.Reset(ctx, l.first); err != nil {
		return fmt.Errorf("the cluster that came back cannot be reset: %w", err)
	}
	return nil
}
