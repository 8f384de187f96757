package httpserver

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/http2"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = time.Minute

// serve starts a TLS server for HTTP/2. accepted is sent to for every new connection.
func serve(t *testing.T, handler http.Handler) (server *httptest.Server, accepted chan struct{}) {
	t.Helper()
	accepted = make(chan struct{}, 10)
	server = httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			accepted <- struct{}{}
		}
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server, accepted
}

func await[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
		panic("unreachable")
	}
}

func TestAConnectionThatIsMadeAsTheServerStopsDoesNotHoldItUp(t *testing.T) {
	server, accepted := serve(t, http.NotFoundHandler())
	stopping := make(chan struct{})
	server.Config.RegisterOnShutdown(sync.OnceFunc(func() { close(stopping) }))

	// The connection is there, its handshake is not, when the server begins to stop.
	raw, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	await(t, "the connection", accepted)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	stopped := make(chan error, 1)
	go func() { stopped <- Stop(ctx, server.Config) }()
	await(t, "the stop", stopping)

	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	secure := tls.Client(raw, &tls.Config{RootCAs: roots, ServerName: "example.com", NextProtos: []string{"h2"}})
	if err := secure.HandshakeContext(ctx); err != nil {
		t.Fatal(err)
	}
	client, err := (&http2.Transport{}).NewClientConn(secure)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()

	if err := await(t, "the end", stopped); err != nil {
		t.Error(err)
	}
}

func TestRequestsUnderWayEndFirst(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	server, _ := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		w.WriteHeader(http.StatusTeapot)
	}))
	status := make(chan int, 1)
	go func() {
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Error(err)
			status <- 0
			return
		}
		defer resp.Body.Close()
		status <- resp.StatusCode
	}()
	await(t, "the request", arrived)
	stopped := make(chan error, 1)
	go func() { stopped <- Stop(t.Context(), server.Config) }()
	select {
	case err := <-stopped:
		t.Errorf("stopped in the middle of a request: %v", err)
	case <-time.After(3 * goodbyes):
	}
	close(release)
	if got := await(t, "the answer", status); got != http.StatusTeapot {
		t.Errorf("status %d", got)
	}
	if err := await(t, "the end", stopped); err != nil {
		t.Error(err)
	}
	server.Client().CloseIdleConnections()
}

func TestRequestsAreCutOffInTheEnd(t *testing.T) {
	arrived, left := make(chan struct{}), make(chan struct{})
	server, _ := serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
		close(left)
	}))
	answered := make(chan error, 1)
	go func() {
		resp, err := server.Client().Get(server.URL)
		if err == nil {
			err = resp.Body.Close()
		}
		answered <- err
	}()
	await(t, "the request", arrived)
	ctx, cancel := context.WithTimeout(t.Context(), goodbyes/2)
	defer cancel()
	if err := Stop(ctx, server.Config); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	await(t, "the end of the handler", left)
	if err := await(t, "the answer", answered); err == nil {
		t.Error("the request was answered")
	}
	server.Client().CloseIdleConnections()
}
