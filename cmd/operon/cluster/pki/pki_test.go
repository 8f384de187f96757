package pki

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var loopback = []net.IP{net.IPv4(127, 0, 0, 1)}

func TestKeysStayTheSameAndArePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first := ensure(t, dir, "localhost")
	again := ensure(t, dir, "localhost")
	for name, data := range first.files() {
		if !bytes.Equal(*data, *again.files()[name]) {
			t.Errorf("%s changed", name)
		}
		if info, err := os.Stat(first.Path(name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, mode %v", name, err, info.Mode())
		}
	}
	if _, err := tls.X509KeyPair(first.AdminCert, first.AdminKey); err != nil {
		t.Errorf("admin: %v", err)
	}
	verify(t, first, "localhost", "127.0.0.1")
}

func TestServingCertificateFollowsItsNamesUnderTheSameAuthority(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	first := ensure(t, dir, "localhost")
	renewed := ensure(t, dir, "localhost", "kubernetes")
	if !bytes.Equal(first.CACert, renewed.CACert) || !bytes.Equal(first.ServiceAccountKey, renewed.ServiceAccountKey) {
		t.Error("the authority or the service account key changed")
	}
	verify(t, renewed, "kubernetes", "127.0.0.1")
	verify(t, ensure(t, dir, "localhost", "kubernetes"), "kubernetes")
}

func TestTwoClustersDoNotTrustEachOther(t *testing.T) {
	a, b := ensure(t, filepath.Join(t.TempDir(), "pki"), "localhost"), ensure(t, filepath.Join(t.TempDir(), "pki"), "localhost")
	b.ServingCert = a.ServingCert
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(b.CACert)
	cert, err := parseCert("", a.ServingCert)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: roots}); err == nil {
		t.Error("one cluster's authority vouches for another's server")
	}
}

func TestIncompleteDirectoryIsAnError(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	p := ensure(t, dir, "localhost")
	if err := os.Remove(p.Path(CAKeyFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Ensure(dir, []string{"localhost"}, loopback); err == nil {
		t.Error("a directory without its authority's key was accepted")
	}
}

func TestDamagedFilesAreNamed(t *testing.T) {
	for name := range (&PKI{}).files() {
		dir := filepath.Join(t.TempDir(), "pki")
		p := ensure(t, dir, "localhost")
		if err := os.WriteFile(p.Path(name), []byte("nonsense"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Ensure(dir, []string{"localhost"}, loopback)
		pair := strings.TrimSuffix(strings.TrimSuffix(name, ".key"), ".crt")
		if err == nil || !strings.Contains(err.Error(), p.Path(pair)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFilesOfAnotherClusterAreRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pki")
	p, other := ensure(t, dir, "localhost"), ensure(t, filepath.Join(t.TempDir(), "pki"), "localhost")
	for _, name := range []string{CACertFile, CAKeyFile} {
		if err := os.WriteFile(p.Path(name), *other.files()[name], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Ensure(dir, []string{"localhost"}, loopback); err == nil {
		t.Error("certificates of one authority were accepted under another")
	}
}

func TestAClockThatIsFarOffIsSaid(t *testing.T) {
	p := ensure(t, filepath.Join(t.TempDir(), "pki"), "localhost")
	for years, want := range map[int]string{0: "", -1: "this machine's clock", 11: "expired at"} {
		err := p.check(time.Now().AddDate(years, 0, 0))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d years on: %v, want %q", years, err, want)
		}
	}
}

func ensure(t *testing.T, dir string, names ...string) *PKI {
	t.Helper()
	p, err := Ensure(dir, names, loopback)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func verify(t *testing.T, p *PKI, names ...string) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(p.CACert)
	cert, err := parseCert("", p.ServingCert)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: name}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
