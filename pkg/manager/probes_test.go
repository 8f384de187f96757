package manager

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	metricsserver "github.com/operon-dev/operon/pkg/metrics/server"
)

const anyPort = "127.0.0.1:0"

// get returns the status and the body of an answer.
func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func TestHealthProbesAndProfilesAreServed(t *testing.T) {
	m := offline(t, func(o *Options) {
		o.HealthProbeBindAddress, o.PprofBindAddress = anyPort, anyPort
		o.ReadinessEndpointName = "fit"
	})
	if err := m.AddReadyzCheck("database", func(*http.Request) error { return errBroken }); err != nil {
		t.Fatal(err)
	}
	if err := m.AddReadyzCheck("disk", func(*http.Request) error { return nil }); err != nil {
		t.Fatal(err)
	}
	stop := started(m)
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	health, profiles := "http://"+m.health.listener.Addr().String(), "http://"+m.pprof.listener.Addr().String()
	for _, tc := range []struct {
		url    string
		status int
		body   string
	}{
		{health + "/healthz", 200, "ok"},
		{health + "/healthz/ping", 200, "ok"},
		{health + "/fit", 500, "[-]database failed: reason withheld\n[+]disk ok\n"},
		{health + "/fit?exclude=database", 200, "ok"},
		{health + "/fit/disk", 200, "ok"},
		{health + "/fit/database", 500, "broken"},
		{health + "/readyz", 404, ""},
		{profiles + "/debug/pprof/", 200, "goroutine"},
		{profiles + "/debug/pprof/cmdline", 200, "test"},
	} {
		status, body := get(t, tc.url)
		if status != tc.status || !strings.Contains(body, tc.body) {
			t.Errorf("GET %s = %d %q, want %d %q", tc.url, status, body, tc.status, tc.body)
		}
	}
	if err := m.AddHealthzCheck("late", nil); err == nil {
		t.Error("a check was added to a running manager")
	}
}

func TestAddressesInUseAndBadOnesAreErrors(t *testing.T) {
	taken, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, set := range map[string]func(*Options, string){
		"health probe": func(o *Options, address string) { o.HealthProbeBindAddress = address },
		"pprof":        func(o *Options, address string) { o.PprofBindAddress, o.HealthProbeBindAddress = address, anyPort },
	} {
		for _, address := range []string{taken.Addr().String(), "nonsense"} {
			options := Options{Metrics: metricsserver.Options{BindAddress: "0"}}
			set(&options, address)
			if _, err := New(&rest.Config{}, options); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("New with a bad %s address = %v", name, err)
			}
		}
	}
	m := offline(t, func(o *Options) { o.Metrics.BindAddress = taken.Addr().String() })
	if err := m.Start(context.Background()); err == nil || !strings.Contains(err.Error(), "metrics server") {
		t.Errorf("Start with a metrics address in use = %v", err)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	if _, err := New(nil, Options{}); err == nil {
		t.Error("New without a config succeeded")
	}
	if _, err := New(&rest.Config{}, Options{LivenessEndpointName: "/same", ReadinessEndpointName: "same"}); err == nil {
		t.Error("New with one path for both probes succeeded")
	}
	if _, err := New(&rest.Config{}, Options{LeaderElection: true, LeaderElectionNamespace: "here"}); err == nil || !strings.Contains(err.Error(), "LeaderElectionID") {
		t.Errorf("New with an election that has no ID = %v", err)
	}
}

func TestMetricsOfTwoManagersAreServedSideBySide(t *testing.T) {
	var addresses []string
	for range 2 {
		m := offline(t, func(o *Options) { o.Metrics.BindAddress = anyPort })
		if err := m.AddMetricsServerExtraHandler("/extra", http.NotFoundHandler()); err != nil {
			t.Fatal(err)
		}
		stop := started(m)
		defer func() {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}()
		addresses = append(addresses, bound(t, m))
		if err := m.AddMetricsServerExtraHandler("/late", http.NotFoundHandler()); err == nil {
			t.Error("a handler was added to a running manager")
		}
	}
	for _, address := range addresses {
		status, body := get(t, "http://"+address+"/metrics")
		if status != 200 || !strings.Contains(body, "go_goroutines") {
			t.Errorf("GET metrics = %d %.100q", status, body)
		}
	}
}

// bound waits until the metrics server listens, and returns where.
func bound(t *testing.T, m *manager) string {
	t.Helper()
	<-m.Elected()
	server := m.metricsServer.(interface{ GetBindAddr() string })
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if address := server.GetBindAddr(); address != "" {
			return address
		}
	}
	t.Fatal("the metrics server does not listen")
	return ""
}

func TestExtraHandlersWithoutAMetricsServerAreIgnored(t *testing.T) {
	m := offline(t)
	if err := m.AddMetricsServerExtraHandler("/extra", http.NotFoundHandler()); err != nil {
		t.Error(err)
	}
	stop := started(m)
	<-m.Elected()
	if err := m.AddMetricsServerExtraHandler("/late", http.NotFoundHandler()); err == nil {
		t.Error("a handler was added to a running manager")
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}

// serve runs a Server that answers when it is let, with one request under way.
func serve(t *testing.T, timeout *time.Duration) (answer chan<- struct{}, stop func() error, got <-chan error) {
	t.Helper()
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	arrived, let := make(chan struct{}), make(chan struct{})
	server := &Server{
		Name:     "slow",
		Listener: listener,
		Server: &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			close(arrived)
			select {
			case <-let:
			case <-req.Context().Done():
			}
		})},
		ShutdownTimeout: timeout,
	}
	m := offline(t)
	mustAdd(t, m, server)
	stop = started(m)
	answers := make(chan error, 1)
	go func() {
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Get("http://" + listener.Addr().String())
		if err == nil {
			err = resp.Body.Close()
		}
		answers <- err
	}()
	<-arrived
	return let, stop, answers
}

func TestAServerLetsRequestsUnderWayFinish(t *testing.T) {
	let, stop, got := serve(t, nil)
	result := make(chan error, 1)
	go func() { result <- stop() }()
	select {
	case err := <-result:
		t.Fatalf("the manager ended with a request under way: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(let)
	if err := <-got; err != nil {
		t.Errorf("the request failed: %v", err)
	}
	if err := <-result; err != nil {
		t.Error(err)
	}
}

func TestAServerCutsRequestsOffAfterItsTimeout(t *testing.T) {
	_, stop, got := serve(t, ptr(10*time.Millisecond))
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := <-got; err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the request ended with %v", err)
	}
}
