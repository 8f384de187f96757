package pki

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"
)

// check says what of the key material that was read is not what was written once, or not of use at this time: the components that read the
// files would say it later, and less clearly.
func (p *PKI) check(now time.Time) error {
	authority, _, err := p.authority()
	if err != nil {
		return err
	}
	switch {
	case now.Before(authority.NotBefore):
		return fmt.Errorf("%s: is not valid before %s, and this machine's clock shows %s", p.Path(CACertFile), stamp(authority.NotBefore), stamp(now))
	case now.After(authority.NotAfter):
		return fmt.Errorf("%s: expired at %s", p.Path(CACertFile), stamp(authority.NotAfter))
	}
	for _, pair := range []struct {
		file      string
		cert, key []byte
	}{
		{CACertFile, p.CACert, p.CAKey},
		{ServingCertFile, p.ServingCert, p.ServingKey},
		{adminCertFile, p.AdminCert, p.AdminKey},
	} {
		leaf, err := parseCert(p.Path(pair.file), pair.cert)
		if err == nil {
			_, err = tls.X509KeyPair(pair.cert, pair.key)
		}
		if err == nil {
			err = leaf.CheckSignatureFrom(authority)
		}
		if err != nil {
			return fmt.Errorf("%s and its key: %w", p.Path(pair.file), err)
		}
	}
	block, _ := pem.Decode(p.ServiceAccountKey)
	if block == nil {
		return fmt.Errorf("%s: holds no PEM block", p.Path(ServiceAccountKeyFile))
	}
	if _, err := x509.ParseECPrivateKey(block.Bytes); err != nil {
		return fmt.Errorf("%s: %w", p.Path(ServiceAccountKeyFile), err)
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
