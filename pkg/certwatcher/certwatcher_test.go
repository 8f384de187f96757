package certwatcher_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"go.uber.org/goleak"

	"github.com/operon-dev/operon/pkg/certwatcher"
	"github.com/operon-dev/operon/pkg/certwatcher/metrics"
	"github.com/operon-dev/operon/pkg/internal/testing/certs"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pair makes a certificate and its key.
func pair(t *testing.T) (cert, key []byte) {
	t.Helper()
	ca, err := certs.NewTinyCA()
	if err != nil {
		t.Fatal(err)
	}
	serving, err := ca.NewServingCert("localhost")
	if err != nil {
		t.Fatal(err)
	}
	if cert, key, err = serving.AsBytes(); err != nil {
		t.Fatal(err)
	}
	return cert, key
}

func write(t *testing.T, dir string, cert, key []byte) {
	t.Helper()
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "tls.crt"), cert, 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600),
	); err != nil {
		t.Fatal(err)
	}
}

func newWatcher(t *testing.T, dir string) *certwatcher.CertWatcher {
	t.Helper()
	w, err := certwatcher.New(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// start runs a watcher until the test ends.
func start(t *testing.T, w *certwatcher.CertWatcher) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// served returns the first certificate that is served, in PEM's inside.
func served(t *testing.T, w *certwatcher.CertWatcher) []byte {
	t.Helper()
	c, err := w.GetCertificate(nil)
	if err != nil {
		t.Fatal(err)
	}
	return c.Certificate[0]
}

func raw(t *testing.T, cert, key []byte) []byte {
	t.Helper()
	p, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return p.Certificate[0]
}

func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(8 * time.Second)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func serves(t *testing.T, w *certwatcher.CertWatcher, want []byte) func() error {
	return func() error {
		if !bytes.Equal(served(t, w), want) {
			return errors.New("another certificate is served")
		}
		return nil
	}
}

func TestNewNeedsFilesThatFit(t *testing.T) {
	dir := t.TempDir()
	if _, err := certwatcher.New(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no files: %v", err)
	}
	cert, _ := pair(t)
	_, key := pair(t)
	write(t, dir, cert, key)
	if _, err := certwatcher.New(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")); err == nil {
		t.Error("a key of another certificate is taken")
	}
}

func TestChangedFilesAreServed(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string, cert, key []byte){
		"written over": write,
		"renamed into place": func(t *testing.T, dir string, cert, key []byte) {
			next := t.TempDir()
			write(t, next, cert, key)
			for _, file := range []string{"tls.key", "tls.crt"} {
				if err := os.Rename(filepath.Join(next, file), filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
			}
		},
		"removed and written again": func(t *testing.T, dir string, cert, key []byte) {
			for _, file := range []string{"tls.key", "tls.crt"} {
				if err := os.Remove(filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
			}
			write(t, dir, cert, key)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			cert, key := pair(t)
			write(t, dir, cert, key)
			w := newWatcher(t, dir)
			start(t, w)
			for range 3 {
				cert, key = pair(t)
				change(t, dir, cert, key)
				eventually(t, name, serves(t, w, raw(t, cert, key)))
			}
		})
	}
}

// The kubelet keeps the files of a Secret behind a link, and exchanges that.
func TestADirectoryThatIsExchangedByALinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	version := func(n int, cert, key []byte) {
		t.Helper()
		sub := filepath.Join(dir, fmt.Sprintf("..version_%d", n))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		write(t, sub, cert, key)
		if err := errors.Join(os.Symlink(filepath.Base(sub), filepath.Join(dir, "..data_tmp")), os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data"))); err != nil {
			t.Fatal(err)
		}
	}
	cert, key := pair(t)
	version(0, cert, key)
	for _, file := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink(filepath.Join("..data", file), filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	w := newWatcher(t, dir)
	start(t, w)
	for n := 1; n < 4; n++ {
		cert, key = pair(t)
		version(n, cert, key)
		if err := os.RemoveAll(filepath.Join(dir, fmt.Sprintf("..version_%d", n-1))); err != nil {
			t.Fatal(err)
		}
		eventually(t, "an exchanged link", serves(t, w, raw(t, cert, key)))
	}
}

func TestDamagedFilesChangeNothing(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t)
	write(t, dir, cert, key)
	w := newWatcher(t, dir)
	start(t, w)
	errorsBefore := testutil.ToFloat64(metrics.ReadCertificateErrors)
	write(t, dir, []byte("no certificate"), key)
	eventually(t, "an error is counted", func() error {
		if testutil.ToFloat64(metrics.ReadCertificateErrors) == errorsBefore {
			return errors.New("none")
		}
		return nil
	})
	if err := serves(t, w, raw(t, cert, key))(); err != nil {
		t.Error(err)
	}
	cert, key = pair(t)
	write(t, dir, cert, key)
	eventually(t, "files that are whole again", serves(t, w, raw(t, cert, key)))
}

func TestWithoutNotificationsFilesAreReadInIntervals(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t)
	write(t, dir, cert, key)
	// The files are reached through a link that the watcher does not know to be one.
	at := filepath.Join(t.TempDir(), "certs")
	if err := os.Symlink(dir, at); err != nil {
		t.Fatal(err)
	}
	w := newWatcher(t, at).WithWatchInterval(20 * time.Millisecond)
	start(t, w)
	before := testutil.ToFloat64(metrics.ReadCertificateTotal)
	eventually(t, "reads", func() error {
		if n := testutil.ToFloat64(metrics.ReadCertificateTotal) - before; n < 3 {
			return fmt.Errorf("%v", n)
		}
		return nil
	})
	other := t.TempDir()
	cert, key = pair(t)
	write(t, other, cert, key)
	if err := errors.Join(os.Remove(at), os.Symlink(other, at)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a directory that was exchanged", serves(t, w, raw(t, cert, key)))
}

func TestACallbackIsToldOfEachCertificate(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t)
	write(t, dir, cert, key)
	w := newWatcher(t, dir)
	var calls atomic.Int32
	var last atomic.Pointer[tls.Certificate]
	w.RegisterCallback(func(c tls.Certificate) {
		calls.Add(1)
		last.Store(&c)
	})
	if calls.Load() != 1 || !bytes.Equal(last.Load().Certificate[0], raw(t, cert, key)) {
		t.Error("not told of the one that is served already")
	}
	if err := w.ReadCertificate(); err != nil || calls.Load() != 1 {
		t.Errorf("told of the same one again: %v", err)
	}
	cert, key = pair(t)
	write(t, dir, cert, key)
	if err := w.ReadCertificate(); err != nil || calls.Load() != 2 || !bytes.Equal(last.Load().Certificate[0], raw(t, cert, key)) {
		t.Errorf("not told of another one: %v", err)
	}
}

func TestAWatcherRunsOnce(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t)
	write(t, dir, cert, key)
	w := newWatcher(t, dir)
	w.Watch() // returns at once
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 2)
	for range 2 {
		go func() { ended <- w.Start(ctx) }()
	}
	if err := <-ended; err == nil {
		t.Error("it runs twice at a time")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if w.NeedLeaderElection() {
		t.Error("it needs leader election")
	}
}
