package certs

import (
	"crypto/tls"
	"crypto/x509"
	"slices"
	"testing"
)

func TestCertificatesAreForWhomTheyAreIssued(t *testing.T) {
	ca, err := NewTinyCA()
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca.CA.CertBytes()) {
		t.Fatal("the authority's certificate is not one")
	}
	serving, err := ca.NewServingCert("host.example", "192.0.2.1", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"localhost", "127.0.0.1", "::1", "host.example", "192.0.2.1"} {
		if _, err := serving.Cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	client, err := ca.NewClientCert(ClientInfo{Name: "jane", Groups: []string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Cert.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}); err != nil {
		t.Error(err)
	}
	if s := client.Cert.Subject; s.CommonName != "jane" || !slices.Equal(s.Organization, []string{"a", "b"}) {
		t.Errorf("subject = %v", s)
	}
	other, err := NewTinyCA()
	if err != nil {
		t.Fatal(err)
	}
	strangers := x509.NewCertPool()
	strangers.AddCert(other.CA.Cert)
	if _, err := serving.Cert.Verify(x509.VerifyOptions{Roots: strangers}); err == nil {
		t.Error("another authority vouches for the certificate")
	}
	for _, pair := range []CertPair{serving, client, ca.CA} {
		cert, key, err := pair.AsBytes()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tls.X509KeyPair(cert, key); err != nil {
			t.Error(err)
		}
	}
}

func TestAServingCertNamesEachOnce(t *testing.T) {
	ca, err := NewTinyCA()
	if err != nil {
		t.Fatal(err)
	}
	serving, err := ca.NewServingCert("localhost", "host.example", "127.0.0.1", "::1", "host.example")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := serving.Cert.DNSNames, []string{"localhost", "host.example"}; !slices.Equal(got, want) {
		t.Errorf("names = %v, want %v", got, want)
	}
	if got := serving.Cert.IPAddresses; len(got) != 2 {
		t.Errorf("addresses = %v, want one each of 127.0.0.1 and ::1", got)
	}
}
