package certs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

const (
	validity = 7 * 24 * time.Hour
	// Clocks of containers and their hosts differ a little.
	backdated = time.Hour
)

// CertPair is a certificate with its private key.
type CertPair struct {
	Key  crypto.Signer
	Cert *x509.Certificate
}

// CertBytes is the certificate in PEM.
func (k CertPair) CertBytes() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.Cert.Raw})
}

// AsBytes is the certificate in PEM, and the key in PEM as PKCS #8.
func (k CertPair) AsBytes() (cert []byte, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(k.Key)
	if err != nil {
		return nil, nil, err
	}
	return k.CertBytes(), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// ClientInfo is a user as a client certificate names it.
type ClientInfo struct {
	// Name is the certificate's common name.
	Name string
	// Groups are its organizations.
	Groups []string
}

// TinyCA is a certificate authority. Any number of goroutines may use it.
type TinyCA struct {
	CA CertPair
}

// NewTinyCA makes an authority with a new key.
func NewTinyCA() (*TinyCA, error) {
	ca, err := issue(&x509.Certificate{
		Subject:               pkix.Name{CommonName: "operon envtest"},
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	return &TinyCA{CA: ca}, nil
}

// NewServingCert issues a certificate for a server that is reached under these
// names and IP addresses, and under localhost, 127.0.0.1 and ::1.
func (c *TinyCA) NewServingCert(names ...string) (CertPair, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			if !slices.ContainsFunc(template.IPAddresses, ip.Equal) {
				template.IPAddresses = append(template.IPAddresses, ip)
			}
		} else if name != "" && !slices.Contains(template.DNSNames, name) {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	return issue(template, &c.CA)
}

// NewClientCert issues a certificate with which a client is that user.
func (c *TinyCA) NewClientCert(user ClientInfo) (CertPair, error) {
	return issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: user.Name, Organization: user.Groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, &c.CA)
}

// issue signs the template for a new key; without a signer the certificate signs itself.
func issue(template *x509.Certificate, signer *CertPair) (CertPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return CertPair{}, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127)); err != nil {
		return CertPair{}, err
	}
	template.NotBefore = time.Now().Add(-backdated)
	template.NotAfter = time.Now().Add(validity)
	if signer == nil {
		signer = &CertPair{Key: key, Cert: template}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.Cert, key.Public(), signer.Key)
	if err != nil {
		return CertPair{}, err
	}
	cert, err := x509.ParseCertificate(der)
	return CertPair{Key: key, Cert: cert}, err
}
