package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"slices"
	"time"
)

// backdating allows for clocks of API servers that are behind.
const backdating = time.Hour

// authority is a certificate authority with its key.
type authority struct {
	cert    *x509.Certificate
	key     *ecdsa.PrivateKey
	certPEM []byte
	keyPEM  []byte
}

// newAuthority makes an authority that is valid from now on.
func newAuthority(now time.Time, validity time.Duration) (*authority, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "webhook CA " + now.UTC().Format("2006-01-02T15:04:05.000Z")},
		NotBefore:             now.Add(-backdating),
		NotAfter:              now.Add(validity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	certPEM, keyPEM, err := sign(template, nil)
	if err != nil {
		return nil, err
	}
	return parseAuthority(certPEM, keyPEM)
}

// newLeaf makes a serving certificate that is valid from now on, though not longer than the authority.
func (a *authority) newLeaf(now time.Time, validity time.Duration, names []string, addresses []net.IP) (certPEM, keyPEM []byte, err error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "webhook server"},
		NotBefore:   now.Add(-backdating),
		NotAfter:    earlier(now.Add(validity), a.cert.NotAfter),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    names,
		IPAddresses: addresses,
	}
	return sign(template, a)
}

// sign completes a certificate with a key of its own, and has it signed by an authority or, if there is none, by itself.
func sign(template *x509.Certificate, by *authority) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, err
	}
	parent, signer := template, key
	if by != nil {
		parent, signer = by.cert, by.key
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, err
	}
	encoded, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: encoded}), nil
}

func parseAuthority(certPEM, keyPEM []byte) (*authority, error) {
	certs := parseBundle(certPEM)
	if len(certs) == 0 {
		return nil, errors.New("no certificate")
	}
	pair, err := tls.X509KeyPair(encodeBundle(certs[:1]), keyPEM)
	if err != nil {
		return nil, err
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok || !certs[0].IsCA {
		return nil, errors.New("not a certificate authority made here")
	}
	return &authority{cert: certs[0], key: key, certPEM: encodeBundle(certs[:1]), keyPEM: keyPEM}, nil
}

// parseLeaf returns the serving certificate if it is valid now, for all names, and signed by one of the authorities.
func parseLeaf(certPEM, keyPEM []byte, authorities []*x509.Certificate, now time.Time, names []string, addresses []net.IP) (*tls.Certificate, error) {
	pair, err := tls.X509KeyPair(certPEM, keyPEM)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	for _, a := range authorities {
		pool.AddCert(a)
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: pool, CurrentTime: now}); err != nil {
		return nil, err
	}
	hosts := slices.Clone(names)
	for _, ip := range addresses {
		hosts = append(hosts, ip.String())
	}
	for _, host := range hosts {
		if err := pair.Leaf.VerifyHostname(host); err != nil {
			return nil, fmt.Errorf("not for %s: %w", host, err)
		}
	}
	return &pair, nil
}

// parseBundle returns the certificates in a bundle, as far as they can be read.
func parseBundle(bundle []byte) []*x509.Certificate {
	var certs []*x509.Certificate
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			return certs
		}
		if cert, err := x509.ParseCertificate(block.Bytes); err == nil && block.Type == "CERTIFICATE" {
			certs = append(certs, cert)
		}
	}
}

func encodeBundle(certs []*x509.Certificate) []byte {
	var bundle []byte
	for _, cert := range certs {
		bundle = append(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})...)
	}
	return bundle
}

// due is when a certificate is to be replaced: after two thirds of its life.
func due(cert *x509.Certificate) time.Time {
	begin := cert.NotBefore.Add(backdating)
	return begin.Add(cert.NotAfter.Sub(begin) / 3 * 2)
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
