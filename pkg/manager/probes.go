package manager

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/operon-dev/operon/pkg/healthz"
)

// lastRequests is how long requests to the manager's own servers may take when it stops.
const lastRequests = 5 * time.Second

// probes is a server of the manager's own, on a listener that is open from the
// start: who asks before the manager has started waits for the answer.
type probes struct {
	name     string
	listener net.Listener
	handler  func() http.Handler
}

// Start implements Runnable.
func (p *probes) Start(ctx context.Context) error {
	timeout := lastRequests
	server := &Server{
		Name:     p.name,
		Listener: p.listener,
		Server: &http.Server{
			Handler:           p.handler(),
			MaxHeaderBytes:    1 << 20,
			IdleTimeout:       90 * time.Second,
			ReadHeaderTimeout: 32 * time.Second,
			// A profile that is being taken ends with the manager.
			BaseContext: func(net.Listener) context.Context { return ctx },
		},
		ShutdownTimeout: &timeout,
	}
	return server.Start(ctx)
}

func (p *probes) String() string { return "server " + p.name }

// openProbes opens the listeners of the health probes and of pprof.
func (m *manager) openProbes() error {
	var err error
	m.health, err = openProbe("health probe", m.options.HealthProbeBindAddress, m.healthHandler)
	if err != nil {
		return err
	}
	m.pprof, err = openProbe("pprof", m.options.PprofBindAddress, pprofHandler)
	if err != nil && m.health != nil {
		err = errors.Join(err, m.health.listener.Close())
	}
	return err
}

func openProbe(name, address string, handler func() http.Handler) (*probes, error) {
	if address == "" || address == "0" {
		return nil, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%s server: %w", name, err)
	}
	return &probes{name: name, listener: listener, handler: handler}, nil
}

// AddHealthzCheck implements Manager.
func (m *manager) AddHealthzCheck(name string, check healthz.Checker) error {
	return m.addCheck(&m.healthy, name, check)
}

// AddReadyzCheck implements Manager.
func (m *manager) AddReadyzCheck(name string, check healthz.Checker) error {
	return m.addCheck(&m.ready, name, check)
}

func (m *manager) addCheck(checks *map[string]healthz.Checker, name string, check healthz.Checker) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.started {
		return fmt.Errorf("health check %s: the manager has started already", name)
	}
	if *checks == nil {
		*checks = map[string]healthz.Checker{}
	}
	(*checks)[name] = check
	return nil
}

// healthHandler is called after the manager has started, when the checks do not change any more.
func (m *manager) healthHandler() http.Handler {
	mux := http.NewServeMux()
	mount := func(endpoint string, checks map[string]healthz.Checker) {
		handler := http.StripPrefix(endpoint, &healthz.Handler{Checks: checks})
		mux.Handle(endpoint, handler)
		mux.Handle(endpoint+"/", handler)
	}
	mount(m.options.LivenessEndpointName, m.healthy)
	mount(m.options.ReadinessEndpointName, m.ready)
	return mux
}

func pprofHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
