package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"go.uber.org/goleak"

	"github.com/operon-dev/operon/pkg/internal/testing/certs"
	"github.com/operon-dev/operon/pkg/webhook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// putCertificate writes a new certificate for this machine into dir, as a
// Secret in a volume would bring it, and returns what trusts it.
func putCertificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	ca, err := certs.NewTinyCA()
	if err != nil {
		t.Fatal(err)
	}
	serving, err := ca.NewServingCert("localhost", "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := serving.AsBytes()
	if err != nil {
		t.Fatal(err)
	}
	replace(t, filepath.Join(dir, "tls.key"), key)
	replace(t, filepath.Join(dir, "tls.crt"), cert)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ca.CA.CertBytes())
	return pool
}

func replace(t *testing.T, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

// logs are the lines that were logged.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) logger() logr.Logger {
	return funcr.New(func(prefix, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, prefix+" "+args)
	}, funcr.Options{Verbosity: 1})
}

func (l *logs) read() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.lines...)
}

// serving runs a server, once it accepts connections. stop ends it and returns what Start returned.
func serving(t *testing.T, o webhook.Options, l *logs) (s webhook.Server, url string, stop func() error) {
	t.Helper()
	o.Host, o.Port = "127.0.0.1", freePort(t)
	s = webhook.NewServer(o)
	ctx, cancel := context.WithCancel(logr.NewContext(context.Background(), l.logger()))
	ended := make(chan error, 1)
	go func() { ended <- s.Start(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() { _ = stop() })
	select {
	case <-s.(*webhook.DefaultServer).Started():
	case err := <-ended:
		ended <- err
		t.Fatal(err)
	}
	return s, fmt.Sprintf("https://127.0.0.1:%d", o.Port), stop
}

// get makes a request over a connection of its own.
func get(t *testing.T, url string, config *tls.Config) (string, *tls.ConnectionState, error) {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	response, err := (&http.Client{Transport: transport, Timeout: 20 * time.Second}).Get(url)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return string(body), response.TLS, err
}

func eventually(t *testing.T, within time.Duration, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, within, err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}
