package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client"
)

// request is what a server was sent.
type request struct {
	Method, Path        string
	Query               url.Values
	ContentType, Accept string
	Body                string
}

// server records what it is sent, and answers what it is told to.
type server struct {
	*httptest.Server

	mu       sync.Mutex
	requests []request
	answer   func(request) (status int, contentType, body string)
}

// answering returns a server that answers every request with the same JSON.
func answering(t *testing.T, body string) *server {
	return newServer(t, func(request) (int, string, string) { return http.StatusOK, "application/json", body })
}

func newServer(t *testing.T, answer func(request) (status int, contentType, body string)) *server {
	s := &server{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got := request{
			Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(),
			ContentType: r.Header.Get("Content-Type"), Accept: r.Header.Get("Accept"), Body: string(body),
		}
		s.mu.Lock()
		s.requests = append(s.requests, got)
		s.mu.Unlock()
		status, contentType, answer := s.answer(got)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// sent returns the requests since it was last called.
func (s *server) sent() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// one returns the one request since the last.
func (s *server) one(t *testing.T) request {
	t.Helper()
	all := s.sent()
	if len(all) != 1 {
		t.Fatalf("the server was sent %d requests, want 1: %+v", len(all), all)
	}
	return all[0]
}

func (s *server) config() *rest.Config { return &rest.Config{Host: s.URL, QPS: -1} }

// client returns a client of the server, with a mapper of its own where options have none.
func (s *server) client(t *testing.T, options client.Options) client.Client {
	t.Helper()
	if options.Scheme == nil {
		options.Scheme = newScheme()
	}
	if options.Mapper == nil {
		options.Mapper = newMapper()
	}
	c, err := client.New(s.config(), options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(corev1.SchemeGroupVersion.WithKind("ConfigMap"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	m.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)
	m.Add(widgetKind, meta.RESTScopeNamespace)
	return m
}
