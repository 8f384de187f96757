package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/operon-dev/operon/pkg/certwatcher"
	"github.com/operon-dev/operon/pkg/healthz"
	"github.com/operon-dev/operon/pkg/internal/httpserver"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/webhook/internal/meter"
)

// DefaultPort is where a server listens that is told no port.
var DefaultPort = 9443

const (
	// lastRequests is how long requests under way may still take when a server
	// stops. The API server waits no longer than 30 s for any.
	lastRequests = 30 * time.Second

	// checkTimeout bounds the connection that StartedChecker makes.
	checkTimeout = 10 * time.Second
)

// Server serves webhooks. All methods may be called by several goroutines at once.
type Server interface {
	// NeedLeaderElection says no: every replica serves webhooks.
	NeedLeaderElection() bool

	// Register serves hook on path, before Start or after. It panics if the path has a handler.
	Register(path string, hook http.Handler)

	// Start serves until ctx is done. It runs once. os.IsNotExist tells the error of a missing certificate.
	Start(ctx context.Context) error

	// StartedChecker returns a check that passes once the server accepts connections.
	StartedChecker() healthz.Checker

	// WebhookMux returns what distributes the requests to the handlers.
	WebhookMux() *http.ServeMux
}

// Options set up a Server.
type Options struct {
	// Host is the address to listen on. Empty means all addresses.
	Host string

	// Port is the port to listen on. Zero means [DefaultPort], and -1 that nothing is served.
	Port int

	// CertDir is the directory of the server's certificate and key. Empty
	// means k8s-webhook-server/serving-certs below the directory for temporary
	// files, which TMPDIR names.
	CertDir string

	// CertName is the file name of the certificate in CertDir. Empty means
	// tls.crt. It is not used when TLSOpts set GetCertificate.
	CertName string

	// KeyName is the file name of the key in CertDir. Empty means tls.key. It
	// is not used when TLSOpts set GetCertificate.
	KeyName string

	// ClientCAName is the file name, in CertDir, of the certificate authorities
	// one of which must have signed the client's certificate. Empty means that clients need none.
	ClientCAName string

	// TLSOpts change the TLS configuration, and may bring a certificate with GetCertificate.
	TLSOpts []func(*tls.Config)

	// WebhookMux distributes the requests to the handlers. Nil means a new one.
	WebhookMux *http.ServeMux
}

func (o *Options) setDefaults() {
	if o.WebhookMux == nil {
		o.WebhookMux = http.NewServeMux()
	}
	if o.Port == 0 {
		o.Port = DefaultPort
	}
	if o.CertDir == "" {
		o.CertDir = filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs")
	}
	if o.CertName == "" {
		o.CertName = "tls.crt"
	}
	if o.KeyName == "" {
		o.KeyName = "tls.key"
	}
}

// DefaultServer is the Server that NewServer makes. Its zero value serves with the default options.
type DefaultServer struct {
	// Options are not to be changed once another method was called.
	Options Options

	setUp sync.Once

	mu      sync.Mutex
	hooks   map[string]http.Handler
	begun   bool
	serving chan struct{} // closed when connections are accepted
}

// NewServer makes a server.
func NewServer(o Options) Server {
	s := &DefaultServer{Options: o}
	s.complete()
	return s
}

func (s *DefaultServer) complete() {
	s.setUp.Do(func() {
		s.Options.setDefaults()
		s.hooks = map[string]http.Handler{}
		s.serving = make(chan struct{})
	})
}

// NeedLeaderElection implements Server.
func (s *DefaultServer) NeedLeaderElection() bool { return false }

// WebhookMux implements Server.
func (s *DefaultServer) WebhookMux() *http.ServeMux {
	s.complete()
	return s.Options.WebhookMux
}

// Register implements Server.
func (s *DefaultServer) Register(path string, hook http.Handler) {
	s.complete()
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.hooks[path]; taken {
		panic(fmt.Errorf("webhook server: path %v has a handler already", path))
	}
	s.hooks[path] = hook
	s.Options.WebhookMux.Handle(path, meter.Handler(path, hook))
	log.Log.WithName("webhook").Info("Webhook registered", "path", path)
}

// Started is closed when the server accepts connections.
func (s *DefaultServer) Started() <-chan struct{} {
	s.complete()
	return s.serving
}

// Start implements Server.
func (s *DefaultServer) Start(ctx context.Context) error {
	s.complete()
	if err := s.begin(); err != nil {
		return err
	}
	logger := log.FromContext(ctx).WithName("webhook")
	if s.Options.Port < 0 {
		logger.Info("No webhook server, its port is negative", "port", s.Options.Port)
		close(s.serving)
		return nil
	}
	config, follow, err := s.tlsConfig()
	if err != nil {
		return certificateError(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.address())
	if err != nil {
		return fmt.Errorf("webhook server: %w", err)
	}

	following, stopFollowing := context.WithCancel(ctx)
	var follower sync.WaitGroup
	defer follower.Wait()
	defer stopFollowing()
	failed := make(chan error, 1)
	if follow != nil {
		follower.Go(func() {
			if err := follow(following); err != nil {
				failed <- err
			}
		})
	}
	logger.Info("Serving webhooks", "host", s.Options.Host, "port", s.Options.Port)
	return s.serve(ctx, tls.NewListener(listener, config), failed)
}

// certificateError is what Start returns where a certificate is missing or broken. os.IsNotExist, which users ask, looks
// below a PathError and below nothing else.
func certificateError(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		op := "webhook server: " + file.Op
		if errors.Is(file.Err, fs.ErrNotExist) {
			op = "webhook server without a certificate (mount its Secret there, name another CertDir, or have operon run start the manager): " + file.Op
		}
		return &fs.PathError{Op: op, Path: file.Path, Err: file.Err}
	}
	return fmt.Errorf("webhook server: %w", err)
}

func (s *DefaultServer) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun {
		return errors.New("webhook server: was started before")
	}
	s.begun = true
	return nil
}

// serve serves until ctx is done or something fails.
func (s *DefaultServer) serve(ctx context.Context, listener net.Listener, failed <-chan error) error {
	server := &http.Server{
		Handler:           s.Options.WebhookMux,
		MaxHeaderBytes:    1 << 20,
		IdleTimeout:       90 * time.Second,
		ReadHeaderTimeout: 32 * time.Second,
		ErrorLog:          handshakeErrors(ctx),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	close(s.serving)

	var err error
	select {
	case err = <-served:
		return fmt.Errorf("webhook server: %w", err)
	case err = <-failed:
		err = fmt.Errorf("webhook server: %w", err)
	case <-ctx.Done():
	}
	log.FromContext(ctx).WithName("webhook").Info("Stopping the webhook server, its last requests may finish", "timeout", lastRequests.String())
	// The context of what stops us is done; the last requests have one of their own.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
	defer cancel()
	if late := httpserver.Stop(last, server); late != nil {
		err = errors.Join(err, fmt.Errorf("webhook server: %w", late))
	}
	<-served
	return err
}

func (s *DefaultServer) address() string {
	return net.JoinHostPort(s.Options.Host, strconv.Itoa(s.Options.Port))
}

// tlsConfig returns the TLS configuration, and what follows the files it comes from, if it comes from files.
func (s *DefaultServer) tlsConfig() (config *tls.Config, follow func(context.Context) error, err error) {
	o := &s.Options
	config = &tls.Config{NextProtos: []string{"h2"}}
	for _, opt := range o.TLSOpts {
		opt(config)
	}
	if config.GetCertificate == nil {
		watcher, err := certwatcher.New(filepath.Join(o.CertDir, o.CertName), filepath.Join(o.CertDir, o.KeyName))
		if err != nil {
			return nil, nil, err
		}
		config.GetCertificate, follow = watcher.GetCertificate, watcher.Start
	}
	if o.ClientCAName == "" {
		return config, follow, nil
	}
	file := filepath.Join(o.CertDir, o.ClientCAName)
	authorities, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("client certificate authorities: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(authorities) {
		return nil, nil, fmt.Errorf("client certificate authorities: no certificate in %s", file)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, follow, nil
}

var errNotStarted = errors.New("webhook server: not started yet")

// StartedChecker implements Server. The check makes a connection to the server.
func (s *DefaultServer) StartedChecker() healthz.Checker {
	return func(req *http.Request) error {
		select {
		case <-s.Started():
		default:
			return errNotStarted
		}
		if s.Options.Port < 0 {
			return nil
		}
		ctx := context.Background()
		if req != nil {
			ctx = req.Context()
		}
		ctx, cancel := context.WithTimeout(ctx, checkTimeout)
		defer cancel()
		// Which certificate is served is the API server's concern; this is about whether any is.
		dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
		conn, err := dialer.DialContext(ctx, "tcp", s.address())
		if err != nil {
			return fmt.Errorf("webhook server: no connection: %w", err)
		}
		if err := conn.Close(); err != nil {
			return fmt.Errorf("webhook server: closing the check's connection: %w", err)
		}
		return nil
	}
}
