package controlplane

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/internal/testing/certs"
	"github.com/operon-dev/operon/pkg/internal/testing/process"
)

// APIServerDefaultArgs are arguments of an API server, as templates.
//
// Deprecated: use Configure. The flags about insecure serving are left out when
// they are used: no API server since Kubernetes 1.24 has them.
var APIServerDefaultArgs = []string{
	"--advertise-address=127.0.0.1",
	"--etcd-servers={{ if .EtcdURL }}{{ .EtcdURL.String }}{{ end }}",
	"--cert-dir={{ .CertDir }}",
	"--insecure-port={{ if .URL }}{{ .URL.Port }}{{else}}0{{ end }}",
	"{{ if .URL }}--insecure-bind-address={{ .URL.Hostname }}{{ end }}",
	"--secure-port={{ if .SecurePort }}{{ .SecurePort }}{{ end }}",

	"--disable-admission-plugins=ServiceAccount",
	"--service-cluster-ip-range=10.0.0.0/24",
	"--allow-privileged=true",
}

var errInsecure = errors.New("APIServer.InsecureServing: no API server since Kubernetes 1.20 serves without TLS: leave it nil and use SecureServing")

// SecureServing is how an API server serves.
type SecureServing struct {
	// ListenAddr is where it listens. What is empty is chosen: 127.0.0.1, a free port.
	process.ListenAddr
	// CA is the certificate of the authority that signed the server's own, in
	// PEM. Start fills it in.
	CA []byte
	// Authn is how the server knows its users. Nil means client certificates.
	Authn
}

// APIServer is a kube-apiserver. The zero value chooses everything by itself.
type APIServer struct {
	// URL is where the API server serves. Start fills it in where it is nil.
	//
	// Deprecated: use SecureServing.
	URL *url.URL
	// SecurePort is the port to listen on.
	//
	// Deprecated: use SecureServing.
	SecurePort int
	SecureServing
	// InsecureServing has to be nil: API servers do not serve without TLS.
	//
	// Deprecated: use SecureServing.
	InsecureServing *process.ListenAddr
	// Path is the kube-apiserver binary. Empty means the one that is found
	// through TEST_ASSET_KUBE_APISERVER, KUBEBUILDER_ASSETS or the environment's
	// BinaryAssetsDirectory, and the operon command otherwise.
	Path string
	// Args are arguments as templates over the fields of APIServer, added to those of Configure.
	//
	// Deprecated: use Configure.
	Args []string
	// CertDir is where certificates and keys are. Empty means a temporary directory that Stop removes.
	CertDir string
	// EtcdURL is the store. A ControlPlane fills it in.
	EtcdURL *url.URL
	// StartTimeout and StopTimeout bound how long the API server may take. Zero means 20 s.
	StartTimeout, StopTimeout time.Duration
	// Out and Err receive what the API server writes. Nil drops it.
	Out, Err io.Writer

	args    *process.Arguments
	assets  string
	scratch scratch
	program *process.Process
}

// Configure returns the flags with which the API server is started, to be changed before Start.
func (s *APIServer) Configure() *process.Arguments {
	if s.args == nil {
		s.args = process.EmptyArguments()
	}
	return s.args
}

// onlyApart names what was asked for that only an API server of its own can do, or is empty.
func (s *APIServer) onlyApart() string {
	switch {
	case s == nil:
		return ""
	case s.Path != "":
		return "APIServer.Path"
	case s.URL != nil:
		return "APIServer.URL"
	case s.InsecureServing != nil:
		return "APIServer.InsecureServing"
	case len(s.Args) > 0:
		return "APIServer.Args"
	case s.CertDir != "":
		return "APIServer.CertDir"
	case s.EtcdURL != nil:
		return "APIServer.EtcdURL"
	case s.Out != nil || s.Err != nil:
		return "APIServer.Out and Err"
	case s.Authn != nil:
		return "APIServer.SecureServing.Authn"
	case s.Address != "" && s.Address != "localhost" && s.Address != "127.0.0.1":
		return "APIServer.SecureServing.Address"
	}
	if s.args != nil {
		for _, name := range s.args.Names() {
			if decidedTogether[name] {
				return "the API server's flag " + name
			}
		}
	}
	return ""
}

// Start starts the API server and returns when it calls itself ready. Its store has to run.
func (s *APIServer) Start() (err error) {
	if s.program != nil {
		return errors.New("the API server is already started")
	}
	if s.EtcdURL == nil {
		return errors.New("APIServer.EtcdURL is not set: an API server needs a store")
	}
	if s.InsecureServing != nil {
		return errInsecure
	}
	binary, err := findProgram("kube-apiserver", s.Path, s.assets)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.scratch.remove())
		}
	}()
	certDir, err := s.prepare()
	if err != nil {
		return fmt.Errorf("API server: %w", err)
	}
	if err := s.Authn.Start(); err != nil {
		return fmt.Errorf("users of the API server: %w", err)
	}
	rest, err := s.templates(certDir)
	if err != nil {
		return fmt.Errorf("API server: %w", err)
	}
	admin, err := s.Authn.AddUser(administrator, s.reach(nil))
	if err != nil {
		return errors.Join(err, s.Authn.Stop())
	}
	ctx, cancel := context.WithTimeout(context.Background(), orDefault(s.StartTimeout))
	defer cancel()
	s.program, err = process.Start(ctx, process.Command{
		Name: binary.name, Path: binary.path, Args: append(s.args.AsStrings(s.defaults(certDir)), rest...), Stdout: s.Out, Stderr: s.Err,
		Ready: func(ctx context.Context, lines <-chan string) error { return awaitReadyz(ctx, lines, admin) },
	})
	if err != nil {
		return errors.Join(err, s.Authn.Stop())
	}
	return nil
}

func awaitReadyz(ctx context.Context, lines <-chan string, admin *rest.Config) error {
	client, err := rest.HTTPClientFor(admin)
	if err != nil {
		return err
	}
	return awaitOK(ctx, lines, client, admin.Host+"readyz")
}

// Stop ends the API server and removes its temporary files. Stopping what does not run does nothing.
func (s *APIServer) Stop() error {
	if s.program == nil {
		return nil
	}
	err := s.program.Stop(process.Interrupt, orDefault(s.StopTimeout))
	s.program = nil
	return errors.Join(err, s.Authn.Stop(), s.scratch.remove())
}

// reach returns a copy of base that finds the API server and trusts it. Host ends in a slash, as controller-runtime's
// does: tests of operators append a path to it.
func (s *APIServer) reach(base *rest.Config) *rest.Config {
	cfg := &rest.Config{}
	if base != nil {
		cfg = rest.CopyConfig(base)
	}
	cfg.Host = s.SecureServing.URL("https", "/").String()
	cfg.CAData, cfg.CAFile = s.CA, ""
	return cfg
}

const (
	servingCert, servingKey = "apiserver.crt", "apiserver.key"
	serviceAccountKey       = "sa-signer.key"
)

// prepare fills in what was left open and writes the keys.
func (s *APIServer) prepare() (certDir string, err error) {
	if s.URL != nil && s.Address == "" && s.Port == "" {
		s.Address, s.Port = s.URL.Hostname(), s.URL.Port()
	}
	if s.SecurePort != 0 {
		s.Port = strconv.Itoa(s.SecurePort)
	}
	if err := s.Complete(); err != nil {
		return "", fmt.Errorf("port: %w", err)
	}
	if s.SecurePort, err = strconv.Atoi(s.Port); err != nil {
		return "", fmt.Errorf("port %q is not a number", s.Port)
	}
	s.URL = s.SecureServing.URL("https", "")
	if s.Authn == nil {
		if s.Authn, err = NewCertAuthn(); err != nil {
			return "", err
		}
	}
	certDir = s.CertDir
	if certDir == "" {
		if certDir, err = s.scratch.path(); err != nil {
			return "", err
		}
	}
	if err := s.writeKeys(certDir); err != nil {
		return "", err
	}
	return certDir, s.Authn.Configure(certDir, s.Configure())
}

func (s *APIServer) writeKeys(dir string) error {
	ca, err := certs.NewTinyCA()
	if err != nil {
		return err
	}
	serving, err := ca.NewServingCert(s.Address)
	if err != nil {
		return err
	}
	cert, key, err := serving.AsBytes()
	if err != nil {
		return err
	}
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(signer)
	if err != nil {
		return err
	}
	s.CA = ca.CA.CertBytes()
	for name, content := range map[string][]byte{
		servingCert: cert, servingKey: key,
		serviceAccountKey: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// templates adds Args to the flags.
func (s *APIServer) templates(certDir string) (rest []string, err error) {
	rest, err = s.Configure().AddTemplates(s.Args, struct {
		*APIServer
		CertDir string
	}{s, certDir})
	for _, gone := range []string{"insecure-port", "insecure-bind-address"} {
		s.args.Disable(gone)
	}
	return rest, err
}

func (s *APIServer) defaults(certDir string) map[string][]string {
	bind := s.Address
	if ip := net.ParseIP(bind); ip == nil {
		bind = "127.0.0.1"
	}
	return map[string][]string{
		"advertise-address": {"127.0.0.1"},
		// A loopback address is not one that the service "kubernetes" may have as its endpoint.
		"endpoint-reconciler-type":         {"none"},
		"bind-address":                     {bind},
		"secure-port":                      {s.Port},
		"cert-dir":                         {certDir},
		"tls-cert-file":                    {filepath.Join(certDir, servingCert)},
		"tls-private-key-file":             {filepath.Join(certDir, servingKey)},
		"etcd-servers":                     {s.EtcdURL.String()},
		"authorization-mode":               {"RBAC"},
		"allow-privileged":                 {"true"},
		"disable-admission-plugins":        {"ServiceAccount"},
		"service-cluster-ip-range":         {"10.0.0.0/24"},
		"service-account-issuer":           {s.SecureServing.URL("https", "").String()},
		"service-account-key-file":         {filepath.Join(certDir, serviceAccountKey)},
		"service-account-signing-key-file": {filepath.Join(certDir, serviceAccountKey)},
	}
}
