package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"k8s.io/client-go/util/cert"
)

// admissionServer is a webhook server with a client for it.
type admissionServer struct {
	url     string
	client  http.Client
	running *started
}

// newAdmissionServer returns when the server answers.
func newAdmissionServer(ctx context.Context, handlers map[string]http.Handler, serve func(context.Context, int, *tls.Config, map[string]http.Handler) *started) (*admissionServer, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	authorities, err := cert.NewPoolFromBytes(certificate)
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &admissionServer{
		url:     fmt.Sprintf("https://127.0.0.1:%d", port),
		client:  http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authorities}, ForceAttemptHTTP2: true}},
		running: serve(ctx, port, &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }}, handlers),
	}
	for {
		connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{RootCAs: authorities})
		if err == nil {
			return s, connection.Close()
		}
		select {
		case err := <-s.running.ended:
			return nil, fmt.Errorf("webhook server: %w", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	return listener.Addr().(*net.TCPAddr).Port, listener.Close()
}

func (s *admissionServer) review(ctx context.Context, path string, review []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewReader(review))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.client.Do(request)
	if err != nil {
		return err
	}
	answer, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return err
	}
	return allowed(answer)
}

func (s *admissionServer) stop() error {
	s.client.CloseIdleConnections()
	return s.running.stop()
}
