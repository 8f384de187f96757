package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/internal/httpserver"
	"github.com/operon-dev/operon/pkg/log"
	"github.com/operon-dev/operon/pkg/metrics"
)

const metricsPath = "/metrics"

// lastRequests is how long requests under way may still take when a server stops.
const lastRequests = 5 * time.Second

// DefaultBindAddress is where a server listens that is told no address.
var DefaultBindAddress = ":8080"

// Server serves metrics.
type Server interface {
	// AddExtraHandler serves handler on path, beside the metrics. It fails for
	// a path that is taken, and once the server has started.
	AddExtraHandler(path string, handler http.Handler) error

	// NeedLeaderElection says no: every replica serves its metrics.
	NeedLeaderElection() bool

	// Start serves until ctx is done. It runs once.
	Start(ctx context.Context) error
}

// Filter wraps a handler, for example to let in only those who may read it.
type Filter func(log logr.Logger, handler http.Handler) (http.Handler, error)

// Options set up a Server.
type Options struct {
	// SecureServing serves over TLS.
	SecureServing bool

	// BindAddress is the address to listen on, as in "127.0.0.1:8080". Empty
	// means [DefaultBindAddress], and "0" means no server. Port 0 takes a free port.
	BindAddress string

	// ExtraHandlers are served beside the metrics, by their paths.
	ExtraHandlers map[string]http.Handler

	// FilterProvider makes a filter that is put around the metrics and the
	// extra handlers. It is called when the server starts.
	FilterProvider func(c *rest.Config, httpClient *http.Client) (Filter, error)

	// CertDir is the directory of the server's certificate and key. Empty
	// means k8s-metrics-server/serving-certs below the directory for temporary files. Where either
	// of the two is missing, a self-signed certificate is made. It is not
	// used when TLSOpts set GetCertificate.
	CertDir string

	// CertName is the file name of the certificate in CertDir. Empty means tls.crt.
	CertName string

	// KeyName is the file name of the key in CertDir. Empty means tls.key.
	KeyName string

	// TLSOpts change the TLS configuration, and may bring a certificate with GetCertificate.
	TLSOpts []func(*tls.Config)

	// HandlerOpts change how metrics are served.
	HandlerOpts []func(*promhttp.HandlerOpts)

	// ListenConfig opens the listener.
	ListenConfig net.ListenConfig
}

// NewServer returns a server, or nil when the options say there is to be none.
// The configuration and the client are for the FilterProvider alone.
func NewServer(o Options, config *rest.Config, httpClient *http.Client) (Server, error) {
	if o.BindAddress == "" {
		o.BindAddress = DefaultBindAddress
	}
	if o.BindAddress == "0" {
		return nil, nil
	}
	if o.CertDir == "" {
		o.CertDir = filepath.Join(os.TempDir(), "k8s-metrics-server", "serving-certs")
	}
	if o.CertName == "" {
		o.CertName = "tls.crt"
	}
	if o.KeyName == "" {
		o.KeyName = "tls.key"
	}
	s := &metricsServer{options: o, config: config, httpClient: httpClient, handlers: map[string]http.Handler{}}
	for path, handler := range o.ExtraHandlers {
		if err := s.AddExtraHandler(path, handler); err != nil {
			return nil, err
		}
	}
	return s, nil
}

type metricsServer struct {
	options    Options
	config     *rest.Config
	httpClient *http.Client

	mu       sync.Mutex
	started  bool
	handlers map[string]http.Handler
	address  string
}

// NeedLeaderElection implements Server.
func (s *metricsServer) NeedLeaderElection() bool { return false }

// AddExtraHandler implements Server.
func (s *metricsServer) AddExtraHandler(path string, handler http.Handler) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return fmt.Errorf("metrics handler for %s: the server has started already", path)
	}
	if _, taken := s.handlers[path]; taken || path == metricsPath {
		return fmt.Errorf("metrics handler for %s: the path has one already", path)
	}
	s.handlers[path] = handler
	return nil
}

// GetBindAddr returns the address the server listens on, and nothing before it does.
func (s *metricsServer) GetBindAddr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.address
}

// Start implements Server.
func (s *metricsServer) Start(ctx context.Context) error {
	handlers, err := s.begin()
	if err != nil {
		return err
	}
	logger := log.FromContext(ctx).WithName("metrics")
	mux, err := s.mux(logger, handlers)
	if err != nil {
		return err
	}
	listener, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("metrics server: %w", err)
	}
	s.mu.Lock()
	s.address = listener.Addr().String()
	s.mu.Unlock()
	logger.Info("Serving metrics", "bindAddress", s.GetBindAddr(), "secure", s.options.SecureServing)

	server := &http.Server{
		Handler:           mux,
		MaxHeaderBytes:    1 << 20,
		IdleTimeout:       90 * time.Second,
		ReadHeaderTimeout: 32 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		// The context of what stops us is done; the last requests have one of their own.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastRequests)
		defer cancel()
		err := httpserver.Stop(last, server)
		if errors.Is(err, context.DeadlineExceeded) {
			err = nil // a scrape or a profile that is cut off is no failure of the manager
		}
		stopped <- err
	})
	if err := server.Serve(listener); err != http.ErrServerClosed {
		stop()
		return fmt.Errorf("metrics server: %w", err)
	}
	return <-stopped
}

func (s *metricsServer) begin() (map[string]http.Handler, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.started {
		return nil, fmt.Errorf("metrics server: was started before")
	}
	s.started = true
	return s.handlers, nil
}

func (s *metricsServer) mux(logger logr.Logger, handlers map[string]http.Handler) (*http.ServeMux, error) {
	filter := func(_ logr.Logger, handler http.Handler) (http.Handler, error) { return handler, nil }
	if s.options.FilterProvider != nil {
		provided, err := s.options.FilterProvider(s.config, s.httpClient)
		if err != nil {
			return nil, fmt.Errorf("metrics filter: %w", err)
		}
		if provided != nil {
			filter = provided
		}
	}
	promOptions := promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}
	for _, opt := range s.options.HandlerOpts {
		opt(&promOptions)
	}
	mux := http.NewServeMux()
	add := func(path string, handler http.Handler) error {
		filtered, err := filter(logger.WithValues("path", path), handler)
		if err != nil {
			return fmt.Errorf("metrics filter for %s: %w", path, err)
		}
		mux.Handle(path, filtered)
		return nil
	}
	if err := add(metricsPath, promhttp.HandlerFor(metrics.Registry, promOptions)); err != nil {
		return nil, err
	}
	for path, handler := range handlers {
		if err := add(path, handler); err != nil {
			return nil, err
		}
	}
	return mux, nil
}

func (s *metricsServer) listen(ctx context.Context) (net.Listener, error) {
	if !s.options.SecureServing {
		return s.options.ListenConfig.Listen(ctx, "tcp", s.options.BindAddress)
	}
	config := &tls.Config{NextProtos: []string{"h2"}}
	for _, opt := range s.options.TLSOpts {
		opt(config)
	}
	if config.GetCertificate == nil {
		get, err := certificateSource(
			filepath.Join(s.options.CertDir, s.options.CertName),
			filepath.Join(s.options.CertDir, s.options.KeyName))
		if err != nil {
			return nil, err
		}
		config.GetCertificate = get
	}
	listener, err := s.options.ListenConfig.Listen(ctx, "tcp", s.options.BindAddress)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(listener, config), nil
}
