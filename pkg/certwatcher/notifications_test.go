package certwatcher

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/operon-dev/operon/pkg/internal/testing/certs"
)

// put writes a new certificate with its key into a directory.
func put(t *testing.T, dir string) {
	t.Helper()
	ca, err := certs.NewTinyCA()
	if err != nil {
		t.Fatal(err)
	}
	serving, err := ca.NewServingCert("localhost")
	if err != nil {
		t.Fatal(err)
	}
	cert, key, err := serving.AsBytes()
	if err := errors.Join(err,
		os.WriteFile(filepath.Join(dir, "tls.crt"), cert, 0o600), os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestWithoutNotificationsTheFilesAreReadInIntervals(t *testing.T) {
	dir := t.TempDir()
	put(t, dir)
	cw, err := New(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	cw.WithWatchInterval(10 * time.Millisecond)
	cw.notifications = func() (*fsnotify.Watcher, error) { return nil, errors.New("too many open files") }
	first, _ := cw.GetCertificate(nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- cw.Start(ctx) }()
	put(t, dir)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("it does not run any more: %v", err)
		default:
		}
		if now, _ := cw.GetCertificate(nil); now != first {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the files were not read")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
