package certwatcher

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/go-logr/logr"

	"github.com/operon-dev/operon/pkg/certwatcher/metrics"
	"github.com/operon-dev/operon/pkg/log"
)

const defaultWatchInterval = 10 * time.Second

// CertWatcher serves a certificate from two files. All methods may be called
// by several goroutines at once.
type CertWatcher struct {
	// RWMutex guards the fields below, down to watcher.
	sync.RWMutex

	certPath, keyPath string

	interval time.Duration
	current  *tls.Certificate
	callback func(tls.Certificate)
	logger   logr.Logger

	running bool
	watcher *fsnotify.Watcher // nil unless Start runs and there are notifications

	notifications func() (*fsnotify.Watcher, error)

	// reading is held while the files are read, and guards content.
	reading sync.Mutex
	content [2][]byte // what current was made from
}

// New reads the certificate and the key, and returns a watcher that serves
// them. It fails if they cannot be read or do not fit.
func New(certPath, keyPath string) (*CertWatcher, error) {
	cw := &CertWatcher{
		certPath: certPath,
		keyPath:  keyPath,
		interval: defaultWatchInterval,
		logger:   log.Log.WithName("certwatcher"),

		notifications: fsnotify.NewWatcher,
	}
	if err := cw.ReadCertificate(); err != nil {
		return nil, err
	}
	return cw, nil
}

// WithWatchInterval sets how often the files are read without a change being
// reported, before Start, and returns cw. The default is 10 s.
func (cw *CertWatcher) WithWatchInterval(interval time.Duration) *CertWatcher {
	cw.Lock()
	defer cw.Unlock()
	cw.interval = interval
	return cw
}

// RegisterCallback has callback called with the certificate that is served
// now, if there is one, and with each that replaces it. A later callback replaces an earlier one.
func (cw *CertWatcher) RegisterCallback(callback func(tls.Certificate)) {
	cw.Lock()
	cw.callback = callback
	current := cw.current
	cw.Unlock()
	if current != nil && callback != nil {
		callback(*current)
	}
}

// GetCertificate returns the certificate that is served now. It is for tls.Config.
func (cw *CertWatcher) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	cw.RLock()
	defer cw.RUnlock()
	return cw.current, nil
}

// NeedLeaderElection says no: every replica serves its certificate.
func (cw *CertWatcher) NeedLeaderElection() bool { return false }

// Start follows the files until ctx is done. It returns when everything it has started has ended. Where the system has no
// notifications to give, as when a node's inotify instances are used up, the files are read in intervals only.
func (cw *CertWatcher) Start(ctx context.Context) error {
	interval, err := cw.begin()
	if err != nil {
		return err
	}
	defer cw.end()

	var watching sync.WaitGroup
	defer watching.Wait()
	watcher, err := cw.notifications()
	if err != nil {
		cw.logger.Error(err, "no file system notifications, the certificate is read in intervals", "cert", cw.certPath, "interval", interval)
	} else {
		defer func() { _ = watcher.Close() }()
		cw.Lock()
		cw.watcher = watcher
		cw.Unlock()
		cw.follow(watcher)
		watching.Go(cw.Watch)
	}
	// What changed since New, before the notifications were on.
	cw.refresh()

	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	cw.logger.Info("Watching the certificate", "cert", cw.certPath, "key", cw.keyPath, "interval", interval)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			cw.follow(watcher)
			cw.refresh()
		}
	}
}

func (cw *CertWatcher) begin() (interval time.Duration, err error) {
	cw.Lock()
	defer cw.Unlock()
	if cw.running {
		return 0, fmt.Errorf("certificate %s: the watcher runs already", cw.certPath)
	}
	cw.running = true
	return cw.interval, nil
}

func (cw *CertWatcher) end() {
	cw.Lock()
	defer cw.Unlock()
	cw.running, cw.watcher = false, nil
}

// Watch reads the files whenever a change of them is reported. Start calls it;
// it returns when Start ends, and at once when Start does not run.
func (cw *CertWatcher) Watch() {
	cw.RLock()
	watcher := cw.watcher
	cw.RUnlock()
	if watcher == nil {
		return
	}
	for {
		select {
		case event, ok := <-watcher.Events:
			if !ok {
				return
			}
			if cw.concerns(event.Name) {
				cw.follow(watcher)
				cw.refresh()
			}
		case err, ok := <-watcher.Errors:
			if !ok {
				return
			}
			cw.logger.Error(err, "error among the file system notifications")
		}
	}
}

// follow asks for the notifications about both files and their directories.
// A file that was replaced has to be asked for again, and asking twice does no harm. What cannot be watched is
// left to the interval.
func (cw *CertWatcher) follow(watcher *fsnotify.Watcher) {
	if watcher == nil {
		return
	}
	for _, path := range []string{cw.certPath, cw.keyPath, filepath.Dir(cw.certPath), filepath.Dir(cw.keyPath)} {
		if err := watcher.Add(path); err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, fsnotify.ErrClosed) {
			cw.logger.V(1).Info("no notifications, the file is read in intervals", "path", path, "error", err.Error())
		}
	}
}

// concerns reports whether a change of that name may be one of the certificate:
// of a file itself, or of the link through which the kubelet exchanges a whole directory.
func (cw *CertWatcher) concerns(name string) bool {
	name = filepath.Clean(name)
	return name == filepath.Clean(cw.certPath) || name == filepath.Clean(cw.keyPath) || filepath.Base(name) == "..data"
}

func (cw *CertWatcher) refresh() {
	if err := cw.ReadCertificate(); err != nil {
		cw.logger.Error(err, "error re-reading certificate, the last one stays")
	}
}

// ReadCertificate reads both files now, and serves what is in them if it is
// another certificate than before.
func (cw *CertWatcher) ReadCertificate() error {
	metrics.ReadCertificateTotal.Inc()
	changed, callback, err := cw.read()
	if err != nil {
		metrics.ReadCertificateErrors.Inc()
		return fmt.Errorf("certificate %s: %w", cw.certPath, err)
	}
	if changed != nil {
		cw.logger.Info("Certificate loaded", "cert", cw.certPath, "key", cw.keyPath)
		if callback != nil {
			callback(*changed)
		}
	}
	return nil
}

// read returns the certificate if it is a new one, and what to tell of it. Handshakes do not wait for the file system.
func (cw *CertWatcher) read() (*tls.Certificate, func(tls.Certificate), error) {
	cw.reading.Lock()
	defer cw.reading.Unlock()
	var content [2][]byte
	for i, path := range []string{cw.certPath, cw.keyPath} {
		var err error
		if content[i], err = os.ReadFile(path); err != nil {
			return nil, nil, err
		}
	}
	if bytes.Equal(content[0], cw.content[0]) && bytes.Equal(content[1], cw.content[1]) {
		return nil, nil, nil
	}
	pair, err := tls.X509KeyPair(content[0], content[1])
	if err != nil {
		return nil, nil, err
	}
	cw.content = content
	cw.Lock()
	defer cw.Unlock()
	cw.current = &pair
	return &pair, cw.callback, nil
}
