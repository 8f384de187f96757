package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	certutil "k8s.io/client-go/util/cert"
)

type getCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// certificateSource returns what serves the certificate in the two files or,
// when either is missing, a self-signed one.
func certificateSource(certFile, keyFile string) (getCertificate, error) {
	files := &certificateFiles{certFile: certFile, keyFile: keyFile}
	switch _, err := files.get(nil); {
	case err == nil:
		return files.get, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	cert, key, err := certutil.GenerateSelfSignedCertKeyWithFixtures("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil, "")
	if err != nil {
		return nil, fmt.Errorf("self-signed certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("self-signed certificate: %w", err)
	}
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }, nil
}

// certificateFiles serves a certificate from two files and reads them again
// when they have changed. Looking at each handshake needs no goroutine, and
// sees the files exchanged by a link, as the kubelet does it.
type certificateFiles struct {
	certFile, keyFile string

	mu      sync.Mutex
	pair    *tls.Certificate
	certAge time.Time
	keyAge  time.Time
}

func (f *certificateFiles) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.refresh()
	if err != nil && f.pair != nil {
		// Halfway through an exchange the two may not fit, or be gone. The old pair
		// serves until they do.
		return f.pair, nil
	}
	return f.pair, err
}

func (f *certificateFiles) refresh() error {
	cert, err := os.Stat(f.certFile)
	if err != nil {
		return err
	}
	key, err := os.Stat(f.keyFile)
	if err != nil {
		return err
	}
	if f.pair != nil && cert.ModTime().Equal(f.certAge) && key.ModTime().Equal(f.keyAge) {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(f.certFile, f.keyFile)
	if err != nil {
		return fmt.Errorf("certificate %s: %w", f.certFile, err)
	}
	f.pair, f.certAge, f.keyAge = &pair, cert.ModTime(), key.ModTime()
	return nil
}
