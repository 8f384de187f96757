package manager

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/operon-dev/operon/pkg/log"
)

// Server runs an HTTP server as part of a manager. Its fields are not to be
// changed after it was added.
type Server struct {
	// Name says what the server is for. It is logged.
	Name string

	// Server is the server to run. It is required.
	Server *http.Server

	// Listener is what it serves on, for example a port that was reserved
	// earlier. Nil means one for Server.Addr.
	Listener net.Listener

	// OnlyServeWhenLeader starts the server only when the manager leads.
	OnlyServeWhenLeader bool

	// ShutdownTimeout is how long requests under way may take when the server
	// stops. They are cut off after that, which is an error. Nil means as long as they want.
	ShutdownTimeout *time.Duration
}

// NeedLeaderElection implements LeaderElectionRunnable.
func (s *Server) NeedLeaderElection() bool { return s.OnlyServeWhenLeader }

// Start serves until ctx is done and the requests under way have ended.
func (s *Server) Start(ctx context.Context) error {
	listener := s.Listener
	if listener == nil {
		addr := s.Server.Addr
		if addr == "" {
			addr = ":http"
		}
		var err error
		if listener, err = net.Listen("tcp", addr); err != nil {
			return err
		}
	}
	logger := log.FromContext(ctx).WithValues("name", s.Name, "addr", listener.Addr().String())
	logger.Info("starting server")

	stopped := make(chan error, 1)
	withdraw := context.AfterFunc(ctx, func() {
		logger.Info("stopping server")
		stopped <- s.shutDown(context.WithoutCancel(ctx))
	})
	if err := s.Server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		withdraw()
		return err
	}
	if withdraw() {
		// Somebody else has closed the server.
		return nil
	}
	return <-stopped
}

func (s *Server) shutDown(ctx context.Context) error {
	if s.ShutdownTimeout != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, *s.ShutdownTimeout)
		defer cancel()
	}
	err := s.Server.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.Server.Close())
	}
	return err
}

func (s *Server) name() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Listener != nil:
		return s.Listener.Addr().String()
	}
	return s.Server.Addr
}
