//go:build unix

package certwatcher_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestAHandshakeDoesNotWaitForTheFileSystem(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t)
	write(t, dir, cert, key)
	w := newWatcher(t, dir)
	// Who reads from a pipe waits until somebody has written.
	pipe := filepath.Join(dir, "tls.crt")
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan error, 1)
	go func() { read <- w.ReadCertificate() }()
	in, err := os.OpenFile(pipe, os.O_WRONLY, 0) // returns when the other side is open
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan struct{})
	go func() {
		defer close(got)
		if cert, err := w.GetCertificate(nil); cert == nil || err != nil {
			t.Errorf("certificate %v, error %v", cert, err)
		}
	}()
	select {
	case <-got:
	case <-time.After(20 * time.Second):
		t.Error("the certificate is not to be had while the file is read")
	}
	if _, err := in.Write(cert); err != nil {
		t.Error(err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
	<-got
}
