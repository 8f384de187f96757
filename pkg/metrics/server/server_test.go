package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/client-go/rest"
	certutil "k8s.io/client-go/util/cert"

	"github.com/operon-dev/operon/pkg/metrics"
)

const anyPort = "127.0.0.1:0"

// running starts a server and returns its address. stop ends it.
func running(t *testing.T, o Options) (address string, stop func() error) {
	t.Helper()
	o.BindAddress = anyPort
	server, err := NewServer(o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- server.Start(ctx) }()
	stop = func() error {
		cancel()
		return <-result
	}
	for {
		if address := server.(*metricsServer).GetBindAddr(); address != "" {
			return address, stop
		}
		select {
		case err := <-result:
			t.Fatalf("Start = %v", err)
		case <-time.After(time.Millisecond):
		}
	}
}

func get(t *testing.T, url string, config *tls.Config) (int, string, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: config}}
	resp, err := client.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

func text(s string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s) })
}

func TestMetricsAndExtraHandlersAreServed(t *testing.T) {
	gauge := prometheus.NewGauge(prometheus.GaugeOpts{Name: "frogs", Help: "Frogs."})
	gauge.Set(3)
	metrics.Registry.MustRegister(gauge)
	defer metrics.Registry.Unregister(gauge)
	address, stop := running(t, Options{ExtraHandlers: map[string]http.Handler{"/debug": text("debugging")}})
	for path, want := range map[string]string{"/metrics": "frogs 3\n", "/debug": "debugging"} {
		status, body, err := get(t, "http://"+address+path, nil)
		if err != nil || status != 200 || !strings.Contains(body, want) {
			t.Errorf("GET %s = %d %.200q %v", path, status, body, err)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, _, err := get(t, "http://"+address+"/metrics", nil); err == nil {
		t.Error("still serving after Start has returned")
	}
}

func TestTheDefaultAddressIsPort8080OfAllInterfaces(t *testing.T) {
	if DefaultBindAddress != ":8080" {
		t.Errorf("the default address is %q", DefaultBindAddress)
	}
}

func TestThereIsNoServerAtAddressZero(t *testing.T) {
	t.Cleanup(func(before string) func() { return func() { DefaultBindAddress = before } }(DefaultBindAddress))
	DefaultBindAddress = "0"
	if server, err := NewServer(Options{}, nil, nil); server != nil || err != nil {
		t.Errorf("the default: got %v, %v", server, err)
	}
	if server, err := NewServer(Options{BindAddress: "0"}, nil, nil); server != nil || err != nil {
		t.Errorf("NewServer = %v, %v", server, err)
	}
}

func TestAPathHasOneHandler(t *testing.T) {
	server, err := NewServer(Options{ExtraHandlers: map[string]http.Handler{"/one": text("")}}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/one", "/metrics"} {
		if err := server.AddExtraHandler(path, text("")); err == nil {
			t.Errorf("%s got a second handler", path)
		}
	}
	if err := server.AddExtraHandler("/two", text("")); err != nil {
		t.Error(err)
	}
	if server.NeedLeaderElection() {
		t.Error("the server waits for leadership")
	}
}

func TestFiltersAreAroundEverything(t *testing.T) {
	forbid := func(_ logr.Logger, next http.Handler) (http.Handler, error) {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if req.URL.Query().Has("let") {
				next.ServeHTTP(w, req)
				return
			}
			w.WriteHeader(http.StatusForbidden)
		}), nil
	}
	address, stop := running(t, Options{
		ExtraHandlers:  map[string]http.Handler{"/debug": text("debugging")},
		FilterProvider: func(*rest.Config, *http.Client) (Filter, error) { return forbid, nil },
	})
	for _, path := range []string{"/metrics", "/debug"} {
		for query, want := range map[string]int{"": 403, "?let": 200} {
			if status, _, err := get(t, "http://"+address+path+query, nil); status != want {
				t.Errorf("GET %s%s = %d %v, want %d", path, query, status, err, want)
			}
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestWhatGoesWrongAtTheStartIsReturned(t *testing.T) {
	taken, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	broken := errors.New("broken")
	for name, o := range map[string]Options{
		"address in use": {BindAddress: taken.Addr().String()},
		"filter provider": {BindAddress: anyPort,
			FilterProvider: func(*rest.Config, *http.Client) (Filter, error) { return nil, broken }},
		"filter": {BindAddress: anyPort, FilterProvider: func(*rest.Config, *http.Client) (Filter, error) {
			return func(logr.Logger, http.Handler) (http.Handler, error) { return nil, broken }, nil
		}},
	} {
		server, err := NewServer(o, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(context.Background()); err == nil {
			t.Errorf("%s: Start succeeded", name)
		}
		if err := server.AddExtraHandler("/late", text("")); err == nil {
			t.Errorf("%s: a handler was added after Start", name)
		}
	}
}

func TestHandlerOptionsReachTheMetricsHandler(t *testing.T) {
	address, stop := running(t, Options{HandlerOpts: []func(*promhttp.HandlerOpts){
		func(o *promhttp.HandlerOpts) { o.MaxRequestsInFlight = 1 },
		func(o *promhttp.HandlerOpts) { o.EnableOpenMetrics = true },
	}})
	req, err := http.NewRequest(http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/openmetrics-text")
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text") {
		t.Errorf("Content-Type = %q", got)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestSecureServing(t *testing.T) {
	t.Run("with a certificate of its own", func(t *testing.T) {
		address, stop := running(t, Options{SecureServing: true, CertDir: t.TempDir()})
		status, _, err := get(t, "https://"+address+"/metrics", &tls.Config{InsecureSkipVerify: true})
		if status != 200 {
			t.Errorf("GET = %d, %v", status, err)
		}
		if status, _, err := get(t, "http://"+address+"/metrics", nil); err == nil && status == 200 {
			t.Error("plain HTTP is answered")
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("with a certificate from files, exchanged while it serves", func(t *testing.T) {
		dir := t.TempDir()
		trust := writePair(t, dir, "one.example", time.Now().Add(-time.Hour))
		address, stop := running(t, Options{SecureServing: true, CertDir: dir, CertName: "cert.pem", KeyName: "key.pem"})
		check := func(name string, trust *x509.CertPool) {
			t.Helper()
			if status, _, err := get(t, "https://"+address+"/metrics", &tls.Config{RootCAs: trust, ServerName: name}); status != 200 {
				t.Errorf("GET as %s = %d, %v", name, status, err)
			}
		}
		check("one.example", trust)
		if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
			t.Fatal(err)
		}
		check("one.example", trust)
		check("two.example", writePair(t, dir, "two.example", time.Now()))
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("with a certificate from the options", func(t *testing.T) {
		dir := t.TempDir()
		trust := writePair(t, dir, "three.example", time.Now())
		pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
		if err != nil {
			t.Fatal(err)
		}
		address, stop := running(t, Options{SecureServing: true, TLSOpts: []func(*tls.Config){func(c *tls.Config) {
			c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
		}}})
		status, _, err := get(t, "https://"+address+"/metrics", &tls.Config{RootCAs: trust, ServerName: "three.example"})
		if status != 200 {
			t.Errorf("GET = %d, %v", status, err)
		}
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	t.Run("not with a broken certificate", func(t *testing.T) {
		dir := t.TempDir()
		for _, name := range []string{"tls.crt", "tls.key"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("nonsense"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		server, err := NewServer(Options{SecureServing: true, CertDir: dir, BindAddress: anyPort}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(context.Background()); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "tls.crt")) {
			t.Errorf("Start = %v, want it to name the file", err)
		}
	})
}

// writePair writes a self-signed certificate and its key, as if at that time.
func writePair(t *testing.T, dir, host string, at time.Time) *x509.CertPool {
	t.Helper()
	cert, key, err := certutil.GenerateSelfSignedCertKeyWithFixtures(host, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"cert.pem": cert, "key.pem": key} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

func TestStoppingWaitsForRequestsUnderWay(t *testing.T) {
	arrived, let := make(chan struct{}), make(chan struct{})
	address, stop := running(t, Options{ExtraHandlers: map[string]http.Handler{
		"/slow": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			close(arrived)
			<-let
			fmt.Fprint(w, "done")
		}),
	}})
	type answer struct {
		body string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		_, body, err := get(t, "http://"+address+"/slow", nil)
		answers <- answer{body, err}
	}()
	<-arrived
	result := make(chan error, 1)
	go func() { result <- stop() }()
	select {
	case err := <-result:
		t.Errorf("Start returned with a request under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(let)
	if got := <-answers; got.body != "done" || got.err != nil {
		t.Errorf("answer = %+v", got)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}
