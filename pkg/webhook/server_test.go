package webhook_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/operon-dev/operon/pkg/metrics"
	"github.com/operon-dev/operon/pkg/webhook"
)

// says answers with a text.
func says(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) })
}

func TestHandlersAreServedWheneverTheyAreRegistered(t *testing.T) {
	dir := t.TempDir()
	pool := putCertificate(t, dir)
	mux := http.NewServeMux()
	mux.Handle("/own", says("own"))
	s, url, stop := serving(t, webhook.Options{CertDir: dir, WebhookMux: mux}, &logs{})
	s.Register("/late", says("late"))
	for path, want := range map[string]string{"/own": "own", "/late": "late", "/other": "404 page not found\n"} {
		got, state, err := get(t, url+path, &tls.Config{RootCAs: pool})
		if err != nil || got != want {
			t.Errorf("%s: %q, %v", path, got, err)
		} else if state.NegotiatedProtocol != "h2" {
			t.Errorf("%s is served over %q", path, state.NegotiatedProtocol)
		}
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, _, err := get(t, url+"/own", &tls.Config{RootCAs: pool}); err == nil {
		t.Error("it serves after it was stopped")
	}
}

func TestAPathHasOneHandler(t *testing.T) {
	s := webhook.NewServer(webhook.Options{})
	s.Register("/x", says("x"))
	defer func() {
		if p, ok := recover().(error); !ok || p.Error() != "webhook server: path /x has a handler already" {
			t.Errorf("recovered %v", p)
		}
	}()
	s.Register("/x", says("y"))
}

func TestTheZeroServerHasTheDefaultOptions(t *testing.T) {
	s := &webhook.DefaultServer{}
	s.Register("/x", says("x"))
	if o := s.Options; o.Port != webhook.DefaultPort || o.CertName != "tls.crt" || o.KeyName != "tls.key" ||
		o.CertDir != filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs") || s.WebhookMux() == nil {
		t.Errorf("options %+v", o)
	}
	if s.NeedLeaderElection() {
		t.Error("it needs leader election")
	}
}

func TestAChangedCertificateIsServedFromTheNextConnectionOn(t *testing.T) {
	dir := t.TempDir()
	old := putCertificate(t, dir)
	s, url, _ := serving(t, webhook.Options{CertDir: dir}, &logs{})
	s.Register("/x", says("x"))
	if _, _, err := get(t, url+"/x", &tls.Config{RootCAs: old}); err != nil {
		t.Fatal(err)
	}
	fresh := putCertificate(t, dir)
	eventually(t, 5*time.Second, "the new certificate", func() error {
		_, _, err := get(t, url+"/x", &tls.Config{RootCAs: fresh})
		return err
	})

	// What is no certificate is not taken over, and a missing file changes nothing.
	replace(t, filepath.Join(dir, "tls.crt"), []byte("half a cert"))
	if err := os.Remove(filepath.Join(dir, "tls.key")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(50 * time.Millisecond)
	if _, _, err := get(t, url+"/x", &tls.Config{RootCAs: fresh}); err != nil {
		t.Errorf("after the files were damaged: %v", err)
	}
}

func TestAHandshakeThatFailsIsLoggedAndServingGoesOn(t *testing.T) {
	dir := t.TempDir()
	pool := putCertificate(t, dir)
	l := &logs{}
	s, url, _ := serving(t, webhook.Options{CertDir: dir}, l)
	s.Register("/x", says("x"))
	if _, _, err := get(t, url+"/x", &tls.Config{RootCAs: x509.NewCertPool()}); err == nil {
		t.Fatal("a certificate was trusted that nobody has signed")
	}
	eventually(t, 5*time.Second, "a log line", func() error {
		if !slices.ContainsFunc(l.read(), func(line string) bool { return strings.Contains(line, "TLS handshake error") }) {
			return errors.New("none")
		}
		return nil
	})
	if _, _, err := get(t, url+"/x", &tls.Config{RootCAs: pool}); err != nil {
		t.Error(err)
	}
}

func TestAPanicBelowTheWebhooksEndsOneRequest(t *testing.T) {
	dir := t.TempDir()
	pool := putCertificate(t, dir)
	l := &logs{}
	s, url, _ := serving(t, webhook.Options{CertDir: dir}, l)
	s.Register("/x", says("x"))
	s.Register("/panics", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("oh no") }))
	if _, _, err := get(t, url+"/panics", &tls.Config{RootCAs: pool}); err == nil {
		t.Error("the request was answered")
	}
	if got, _, err := get(t, url+"/x", &tls.Config{RootCAs: pool}); err != nil || got != "x" {
		t.Errorf("after it: %q, %v", got, err)
	}
	if !slices.ContainsFunc(l.read(), func(line string) bool { return strings.Contains(line, "oh no") }) {
		t.Errorf("the panic is not logged: %q", l.read())
	}
}

func TestTLSOptsHaveTheLastWord(t *testing.T) {
	dir := t.TempDir()
	pool := putCertificate(t, dir)
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	s, url, _ := serving(t, webhook.Options{CertDir: filepath.Join(dir, "missing"), TLSOpts: []func(*tls.Config){func(c *tls.Config) {
		c.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }
		c.NextProtos = []string{"http/1.1"}
		c.MinVersion = tls.VersionTLS13
	}}}, &logs{})
	s.Register("/x", says("x"))
	_, state, err := get(t, url+"/x", &tls.Config{RootCAs: pool})
	if err != nil || state.NegotiatedProtocol != "http/1.1" {
		t.Errorf("%+v, %v", state, err)
	}
	if _, _, err := get(t, url+"/x", &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS12}); err == nil {
		t.Error("a version of TLS was accepted that is too old")
	}
}

func TestWithAClientCAClientsNeedACertificate(t *testing.T) {
	dir := t.TempDir()
	pool := putCertificate(t, dir)
	authority, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		t.Fatal(err)
	}
	replace(t, filepath.Join(dir, "clients.crt"), authority)
	s, url, _ := serving(t, webhook.Options{CertDir: dir, ClientCAName: "clients.crt"}, &logs{})
	s.Register("/x", says("x"))
	if _, _, err := get(t, url+"/x", &tls.Config{RootCAs: pool}); err == nil {
		t.Error("a client without a certificate was let in")
	}
}

func TestStartSaysWhatIsMissing(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		options webhook.Options
		prepare func()
		want    string
	}{
		"certificate": {options: webhook.Options{CertDir: dir}, want: filepath.Join(dir, "tls.crt")},
		"way out":     {options: webhook.Options{CertDir: dir}, want: "operon run"},
		"clients' authority": {
			options: webhook.Options{CertDir: dir, ClientCAName: "clients.crt"},
			prepare: func() { putCertificate(t, dir) }, want: "clients.crt",
		},
		"address": {
			options: webhook.Options{CertDir: dir, Host: "256.0.0.1", Port: 1},
			prepare: func() { putCertificate(t, dir) }, want: "256.0.0.1",
		},
	} {
		if tt.prepare != nil {
			tt.prepare()
		} else {
			_ = os.Remove(filepath.Join(dir, "tls.crt"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		err := webhook.NewServer(tt.options).Start(ctx)
		cancel()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if missing := tt.options.Host == ""; os.IsNotExist(err) != missing {
			t.Errorf("%s: os.IsNotExist of %v is not %t", name, err, missing)
		}
	}
}

func TestTheStartedCheckPassesWhileConnectionsAreAccepted(t *testing.T) {
	dir := t.TempDir()
	putCertificate(t, dir)
	if err := webhook.NewServer(webhook.Options{}).StartedChecker()(nil); err == nil {
		t.Error("it passes before the server is started")
	}
	l := &logs{}
	s, _, stop := serving(t, webhook.Options{CertDir: dir}, l)
	check := s.StartedChecker()
	if err := check(nil); err != nil {
		t.Error(err)
	}
	if err := check(new(http.Request)); err != nil {
		t.Error(err)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := check(nil); err == nil {
		t.Error("it passes after the server was stopped")
	}
}

func TestADisabledServerServesNothing(t *testing.T) {
	s := webhook.NewServer(webhook.Options{Port: -1, CertDir: "/nonexistent"})
	if err := s.Start(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.StartedChecker()(nil); err != nil {
		t.Error(err)
	}
}

func TestHandlersAreMeasuredByTheirPaths(t *testing.T) {
	dir := t.TempDir()
	pool := putCertificate(t, dir)
	s, url, _ := serving(t, webhook.Options{CertDir: dir}, &logs{})
	s.Register("/measured", says("x"))
	for range 3 {
		if _, _, err := get(t, url+"/measured", &tls.Config{RootCAs: pool}); err != nil {
			t.Fatal(err)
		}
	}
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, family := range families {
		for _, m := range family.GetMetric() {
			text := m.String()
			if !strings.Contains(text, `"/measured"`) {
				continue
			}
			if strings.Contains(text, `"200"`) && m.GetCounter().GetValue() != 3 {
				t.Errorf("counted %v", m.GetCounter().GetValue())
			}
			found = append(found, family.GetName())
		}
	}
	slices.Sort(found)
	if want := []string{
		"controller_runtime_webhook_latency_seconds", "controller_runtime_webhook_requests_in_flight", "controller_runtime_webhook_requests_total",
	}; !slices.Equal(slices.Compact(found), want) {
		t.Errorf("measured %q", found)
	}
}
