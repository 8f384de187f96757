package controlplane

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/internal/testing/certs"
	"github.com/operon-dev/operon/pkg/internal/testing/process"
)

// Authn is a way in which an API server that runs as a program of its own knows
// its users. Its methods are called in the order Configure, Start, AddUser any
// number of times, Stop.
type Authn interface {
	// Configure sets the flags by which the API server uses this way. Files may be put into workDir.
	Configure(workDir string, args *process.Arguments) error
	// Start is called just before the API server is started.
	Start() error
	// AddUser returns a copy of baseCfg with which a client is the user.
	AddUser(user User, baseCfg *rest.Config) (*rest.Config, error)
	// Stop is called when the API server has ended.
	Stop() error
}

// CertAuthn knows users by client certificates of an authority of its own.
type CertAuthn struct {
	ca *certs.TinyCA
	// file holds the authority's certificate while the API server runs.
	file string
}

const clientCAFile = "client-ca.crt"

// NewCertAuthn makes an authority for client certificates.
func NewCertAuthn() (*CertAuthn, error) {
	ca, err := certs.NewTinyCA()
	if err != nil {
		return nil, err
	}
	return &CertAuthn{ca: ca}, nil
}

// Configure sets the flag client-ca-file.
func (c *CertAuthn) Configure(workDir string, args *process.Arguments) error {
	c.file = filepath.Join(workDir, clientCAFile)
	args.Set("client-ca-file", c.file)
	return nil
}

// Start writes the authority's certificate for the API server.
func (c *CertAuthn) Start() error {
	if c.file == "" {
		return errors.New("client certificates are configured before they are started")
	}
	return os.WriteFile(c.file, c.ca.CA.CertBytes(), 0o600)
}

// AddUser issues a client certificate.
func (c *CertAuthn) AddUser(user User, baseCfg *rest.Config) (*rest.Config, error) {
	pair, err := c.ca.NewClientCert(certs.ClientInfo{Name: user.Name, Groups: user.Groups})
	if err != nil {
		return nil, fmt.Errorf("client certificate of user %s: %w", user.Name, err)
	}
	cfg := rest.CopyConfig(baseCfg)
	cfg.CertData, cfg.KeyData, err = pair.AsBytes()
	return cfg, err
}

// Stop removes the authority's certificate.
func (c *CertAuthn) Stop() error {
	if c.file == "" {
		return nil
	}
	if err := os.Remove(c.file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
