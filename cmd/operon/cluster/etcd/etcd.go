package etcd

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
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
	// etcd ends the process on damage, by Fatal and by Panic, from goroutines of its own; the hook turns both into errors.
	logger = logger.WithOptions(zap.WithFatalHook(s.fatal), zap.WithPanicHook(s.fatal), zap.WrapCore(s.fatal.wrap))
	ec.ZapLoggerBuilder = embed.NewZapLoggerBuilder(logger)

	type result struct {
		etcd *embed.Etcd
		err  error
	}
	started := make(chan result, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				started <- result{err: fmt.Errorf("%v", p)}
			}
		}()
		e, err := embed.StartEtcd(ec)
		started <- result{e, err}
	}()
	select {
	case r := <-started:
		if r.err != nil {
			s.removeSocket()
			return nil, s.startError(r.err)
		}
		s.etcd = r.etcd
	case <-s.fatal.done:
		s.removeSocket()
		return nil, s.startError(errors.New(s.fatal.message()))
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

// fatalHook keeps the first message that was meant to end the process, and ends the goroutine instead.
type fatalHook struct {
	once sync.Once
	done chan struct{}
	mu   sync.Mutex
	text string
}

func newFatalHook() *fatalHook { return &fatalHook{done: make(chan struct{})} }

func (h *fatalHook) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	h.once.Do(func() {
		text := entry.Message
		for _, f := range fields {
			if err, ok := f.Interface.(error); ok && f.Type == zapcore.ErrorType {
				text += ": " + err.Error()
			}
		}
		h.mu.Lock()
		h.text = text
		h.mu.Unlock()
		close(h.done)
	})
	runtime.Goexit()
}

func (h *fatalHook) message() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text
}

// wrap makes the core accept panics and fatal errors whatever its level: a hook is only asked about accepted entries.
func (h *fatalHook) wrap(core zapcore.Core) zapcore.Core { return severeCore{core} }

type severeCore struct{ zapcore.Core }

func (c severeCore) With(fields []zapcore.Field) zapcore.Core { return severeCore{c.Core.With(fields)} }

func (c severeCore) Enabled(level zapcore.Level) bool {
	return level >= zapcore.PanicLevel || c.Core.Enabled(level)
}

func (c severeCore) Check(entry zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Level >= zapcore.PanicLevel {
		return ce.AddCore(entry, c)
	}
	return c.Core.Check(entry, ce)
}

func (c severeCore) Write(entry zapcore.Entry, fields []zapcore.Field) error {
	if !c.Core.Enabled(entry.Level) {
		return nil
	}
	return c.Core.Write(entry, fields)
}
