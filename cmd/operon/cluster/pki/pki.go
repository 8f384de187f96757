package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	validity = 10 * 365 * 24 * time.Hour
	// A leaf that would expire this soon is issued anew when the data directory is opened.
	renewBefore = 30 * 24 * time.Hour
)

// Files of a PKI directory.
const (
	CACertFile            = "ca.crt"
	CAKeyFile             = "ca.key"
	ServingCertFile       = "apiserver.crt"
	ServingKeyFile        = "apiserver.key"
	adminCertFile         = "admin.crt"
	adminKeyFile          = "admin.key"
	ServiceAccountKeyFile = "service-account.key"
)

// PKI is the key material of one cluster, PEM encoded.
type PKI struct {
	// Dir holds the same material as files of mode 0600, for the components that read files.
	Dir string

	CACert, CAKey           []byte
	ServingCert, ServingKey []byte
	AdminCert, AdminKey     []byte
	ServiceAccountKey       []byte
}

// Path is the full path of one of the directory's files.
func (p *PKI) Path(file string) string { return filepath.Join(p.Dir, file) }

// Ensure loads the key material in dir, or creates it where dir does not exist yet.
// The directory appears complete or not at all. Serving and client certificates that are about to expire, or that do
// not cover names and ips, are issued anew from the same authority.
func Ensure(dir string, names []string, ips []net.IP) (*PKI, error) {
	p, err := load(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(dir); errors.Is(statErr, fs.ErrNotExist) {
			return create(dir, names, ips)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := p.check(time.Now()); err != nil {
		return nil, err
	}
	return p, p.renew(names, ips)
}

func (p *PKI) files() map[string]*[]byte {
	return map[string]*[]byte{
		CACertFile: &p.CACert, CAKeyFile: &p.CAKey,
		ServingCertFile: &p.ServingCert, ServingKeyFile: &p.ServingKey,
		adminCertFile: &p.AdminCert, adminKeyFile: &p.AdminKey,
		ServiceAccountKeyFile: &p.ServiceAccountKey,
	}
}

func load(dir string) (*PKI, error) {
	p := &PKI{Dir: dir}
	for name, dst := range p.files() {
		data, err := os.ReadFile(p.Path(name))
		if err != nil {
			return nil, err
		}
		*dst = data
	}
	return p, nil
}

func create(dir string, names []string, ips []net.IP) (*PKI, error) {
	p := &PKI{Dir: dir}
	caKey, err := newKey(&p.CAKey)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "operon-ca"},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	caCert, err := sign(template, nil, caKey, caKey, &p.CACert)
	if err != nil {
		return nil, err
	}
	if err := p.issue(caCert, caKey, names, ips); err != nil {
		return nil, err
	}
	if _, err := newKey(&p.ServiceAccountKey); err != nil {
		return nil, err
	}

	tmp := dir + ".tmp"
	if err := os.RemoveAll(tmp); err != nil {
		return nil, err
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return nil, err
	}
	for name, data := range p.files() {
		if err := os.WriteFile(filepath.Join(tmp, name), *data, 0o600); err != nil {
			return nil, err
		}
	}
	return p, os.Rename(tmp, dir)
}

// issue signs a serving certificate and an administrator's client certificate.
func (p *PKI) issue(caCert *x509.Certificate, caKey *ecdsa.PrivateKey, names []string, ips []net.IP) error {
	servingKey, err := newKey(&p.ServingKey)
	if err != nil {
		return err
	}
	if _, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    names,
		IPAddresses: ips,
	}, caCert, servingKey, caKey, &p.ServingCert); err != nil {
		return err
	}
	adminKey, err := newKey(&p.AdminKey)
	if err != nil {
		return err
	}
	_, err = sign(clientTemplate("operon-admin", []string{"system:masters"}), caCert, adminKey, caKey, &p.AdminCert)
	return err
}

func (p *PKI) renew(names []string, ips []net.IP) error {
	serving, err := parseCert(p.Path(ServingCertFile), p.ServingCert)
	if err != nil {
		return err
	}
	admin, err := parseCert(p.Path(adminCertFile), p.AdminCert)
	if err != nil {
		return err
	}
	now := time.Now()
	soon := now.Add(renewBefore)
	if now.After(serving.NotBefore) && now.After(admin.NotBefore) && soon.Before(serving.NotAfter) && soon.Before(admin.NotAfter) && covers(serving, names, ips) {
		return nil
	}
	caCert, caKey, err := p.authority()
	if err != nil {
		return err
	}
	if err := p.issue(caCert, caKey, names, ips); err != nil {
		return err
	}
	for _, name := range []string{ServingKeyFile, ServingCertFile, adminKeyFile, adminCertFile} {
		tmp := p.Path(name + ".tmp")
		if err := os.WriteFile(tmp, *p.files()[name], 0o600); err != nil {
			return err
		}
		if err := os.Rename(tmp, p.Path(name)); err != nil {
			return err
		}
	}
	return nil
}

func covers(cert *x509.Certificate, names []string, ips []net.IP) bool {
	for _, name := range names {
		if cert.VerifyHostname(name) != nil {
			return false
		}
	}
	for _, ip := range ips {
		if cert.VerifyHostname(ip.String()) != nil {
			return false
		}
	}
	return true
}

func newKey(dst *[]byte) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	*dst = pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	return key, nil
}

// sign completes the template, signs it (self-signed where parent is nil) and stores it PEM encoded in dst.
func sign(template, parent *x509.Certificate, key *ecdsa.PrivateKey, signer crypto.Signer, dst *[]byte) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(validity)
	if parent == nil {
		parent = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	*dst = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return x509.ParseCertificate(der)
}

func parseCert(path string, data []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%s: holds no PEM block", path)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return cert, nil
}

// SelfSigned returns a serving certificate for name that is its own authority, and its key. It is kept nowhere.
func SelfSigned(name string) (cert, key []byte, err error) {
	private, err := newKey(&key)
	if err != nil {
		return nil, nil, err
	}
	_, err = sign(&x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:              []string{name},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}, nil, private, private, &cert)
	return cert, key, err
}
