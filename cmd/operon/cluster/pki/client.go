package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
)

// Client issues a certificate with which a client is the user of that name, in those groups. It is in no file.
func (p *PKI) Client(name string, groups []string) (cert, key []byte, err error) {
	caCert, caKey, err := p.authority()
	if err != nil {
		return nil, nil, err
	}
	private, err := newKey(&key)
	if err != nil {
		return nil, nil, err
	}
	_, err = sign(clientTemplate(name, groups), caCert, private, caKey, &cert)
	return cert, key, err
}

func clientTemplate(name string, groups []string) *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

// authority parses the certificate and the key that sign the others.
func (p *PKI) authority() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	cert, err := parseCert(p.Path(CACertFile), p.CACert)
	if err != nil {
		return nil, nil, err
	}
	block, _ := pem.Decode(p.CAKey)
	if block == nil {
		return nil, nil, fmt.Errorf("%s: holds no PEM block", p.Path(CAKeyFile))
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.Path(CAKeyFile), err)
	}
	return cert, key, nil
}
