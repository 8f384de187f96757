package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	// Unix socket paths are limited to about a hundred bytes, depending on the system.
	maxSocketPath = 100
	// A member that is alone elects itself within a tenth of a second, unless its log has lost who its members are.
	electionTimeout = 15 * time.Second
	maxTxnOps       = 2048
	// etcd takes requests of 1.5 MB.
	maxTxnBytes = 1 << 20
)

// etcd preallocates two segments of its log; its default of 64 MB each is made for busy clusters.
const walSegmentBytes = 8 << 20

func init() { wal.SegmentSizeBytes = walSegmentBytes }

// Config says where the store lives.
type Config struct {
	// Dir holds etcd's data. It is created with mode 0700 where it does not exist.
	Dir string
	// SocketDir holds the Unix socket. It is created with mode 0700 where it does not exist.
	SocketDir string
	// Durable forces every acknowledged write to disk.
	Durable bool
	// Logger receives etcd's messages; nil drops them.
	Logger *zap.Logger
}

// Server is a running store.
type Server struct {
	etcd      *embed.Etcd
	dir       string
	socketDir string
	// handle keeps a socket directory open that is reached through its descriptor.
	handle *os.File
	fatal  *fatalHook
	stop   sync.Once
}

// CorruptError says that the store in Dir cannot be read.
type CorruptError struct {
	Dir    string
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("store in %s is damaged (%s): restore it from a copy, or remove the data directory to begin anew", e.Dir, e.Reason)
}

// Start opens the store and returns when it accepts requests.
func Start(ctx context.Context, cfg Config) (*Server, error) {
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, err
	}
	if err := checkDatabase(filepath.Join(cfg.Dir, "member", "snap", "db")); err != nil {
		return nil, &CorruptError{Dir: cfg.Dir, Reason: err.Error()}
	}
	s := &Server{dir: cfg.Dir, socketDir: cfg.SocketDir, fatal: newFatalHook()}
	if err := s.prepareSocket(); err != nil {
		return nil, err
	}
	var err error
	if s.etcd, err = s.open(s.configuration(cfg)); err != nil {
		s.removeSocket()
		return nil, s.startError(err)
	}
	select {
	case <-s.etcd.Server.ReadyNotify():
		return s, nil
	case <-s.fatal.done:
		s.removeSocket()
		return nil, s.startError(errors.New(s.fatal.message()))
	case <-time.After(electionTimeout):
		s.Stop()
		return nil, &CorruptError{Dir: cfg.Dir, Reason: "its log is incomplete"}
	case err := <-s.etcd.Err():
		s.Stop()
		return nil, s.startError(err)
	case <-ctx.Done():
		s.Stop()
		return nil, ctx.Err()
	}
}

// configuration is that of a member which is alone.
func (s *Server) configuration(cfg Config) *embed.Config {
	ec := embed.NewConfig()
	ec.Name = "operon"
	ec.Dir = cfg.Dir
	// A single member elects itself; short ticks make that a matter of milliseconds.
	ec.TickMs, ec.ElectionMs = 10, 100
	ec.ListenPeerUrls = nil
	peer := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	ec.AdvertisePeerUrls = []url.URL{peer}
	ec.InitialCluster = ec.Name + "=" + peer.String()
	client := url.URL{Scheme: "unix", Path: s.socket()}
	ec.ListenClientUrls = []url.URL{client}
	ec.AdvertiseClientUrls = []url.URL{client}
	ec.UnsafeNoFsync = !cfg.Durable
	// There is no follower that could need old entries, and they would be held in memory.
	ec.SnapshotCount, ec.SnapshotCatchUpEntries = 2000, 100
	ec.EnableGRPCGateway = false
	// The first state of a cluster is one transaction.
	ec.MaxTxnOps = maxTxnOps
	logger := cfg.Logger
	if logger == nil {
		logger = zap.New(zapcore.NewNopCore())
	}
	ec.ZapLoggerBuilder = embed.NewZapLoggerBuilder(s.fatal.hookInto(logger))
	return ec
}

// open has etcd open its files. It does not wait for etcd where that has given up.
func (s *Server) open(ec *embed.Config) (*embed.Etcd, error) {
	type result struct {
		etcd *embed.Etcd
		err  error
	}
	opened := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				opened <- result{err: fmt.Errorf("%v", p)}
			}
		}()
		e, err := embed.StartEtcd(ec)
		opened <- result{e, err}
	}()
	select {
	case r := <-opened:
		return r.etcd, r.err
	case <-s.fatal.done:
		return nil, errors.New(s.fatal.message())
	}
}

// startError calls damage what etcd met in files that exist already, unless the disk is the reason.
func (s *Server) startError(err error) error {
	if full := diskFull(s.dir, err); full != nil {
		return full
	}
	if _, statErr := os.Stat(filepath.Join(s.dir, "member", "wal")); statErr == nil {
		return &CorruptError{Dir: s.dir, Reason: err.Error()}
	}
	return fmt.Errorf("store in %s: %w", s.dir, err)
}

// diskFull says so, if that is what the error is about. etcd's errors do not all unwrap.
func diskFull(dir string, err error) error {
	if full := syscall.ENOSPC; errors.Is(err, full) || strings.Contains(err.Error(), full.Error()) {
		return fmt.Errorf("store in %s cannot be written (%w): make room on its disk, or choose another --data-dir", dir, full)
	}
	return nil
}

// Endpoint is the address for etcd clients.
func (s *Server) Endpoint() string { return "unix://" + s.socket() }

// Failed is closed when etcd has met an error after which it cannot go on; Err then says which.
func (s *Server) Failed() <-chan struct{} { return s.fatal.done }

// Err is the reason why Failed was closed.
func (s *Server) Err() error {
	err := errors.New(s.fatal.message())
	if full := diskFull(s.dir, err); full != nil {
		return full
	}
	return fmt.Errorf("store in %s failed: %w", s.dir, err)
}

// Put stores the pairs in one transaction: all of them or none.
func (s *Server) Put(ctx context.Context, pairs map[string][]byte) error {
	txn := &pb.TxnRequest{}
	for key, value := range pairs {
		txn.Success = append(txn.Success, &pb.RequestOp{Request: &pb.RequestOp_RequestPut{
			RequestPut: &pb.PutRequest{Key: []byte(key), Value: value},
		}})
	}
	_, err := s.etcd.Server.Txn(ctx, txn)
	return err
}

// Empty says whether nothing was ever written.
func (s *Server) Empty(ctx context.Context) (bool, error) {
	r, err := s.etcd.Server.Range(ctx, &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}, Limit: 1, KeysOnly: true})
	if err != nil {
		return false, err
	}
	return len(r.Kvs) == 0, nil
}

// Stop flushes the store and closes it. Clients are cut off.
func (s *Server) Stop() {
	s.stop.Do(func() {
		// Close alone would first wait for clients to leave.
		for _, l := range s.etcd.Clients {
			l.Close()
		}
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			// Neither returns when a goroutine of etcd ended in the hook.
			s.etcd.Server.HardStop()
			s.etcd.Close()
		}()
		select {
		case <-closed:
		case <-time.After(200 * time.Millisecond):
		}
		s.removeSocket()
	})
}

func (s *Server) socket() string { return filepath.Join(s.socketDir, "etcd.sock") }

func (s *Server) prepareSocket() error {
	if err := os.MkdirAll(s.socketDir, 0o700); err != nil {
		return err
	}
	// A killed process leaves its socket behind. The directory is locked, so nobody is listening on it.
	if err := os.Remove(s.socket()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(s.socket()) <= maxSocketPath {
		return nil
	}
	handle, err := os.Open(s.socketDir)
	if err != nil {
		return err
	}
	short := fmt.Sprintf("/proc/self/fd/%d", handle.Fd())
	if _, err := os.Stat(short); err != nil {
		handle.Close()
		return fmt.Errorf("path of %s is too long for a socket: choose a data directory with a shorter one", s.socketDir)
	}
	s.socketDir, s.handle = short, handle
	return nil
}

func (s *Server) removeSocket() {
	os.Remove(s.socket())
	if s.handle != nil {
		s.handle.Close()
	}
}
