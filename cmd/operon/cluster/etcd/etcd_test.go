package etcd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAStoreThatCanWriteNoMoreSaysSoAndStops(t *testing.T) {
	dir := t.TempDir()
	s, err := Start(t.Context(), Config{Dir: filepath.Join(dir, "etcd"), SocketDir: filepath.Join(dir, "run")})
	if err != nil {
		t.Fatal(err)
	}
	// The log's next segment has nowhere to go.
	if err := os.RemoveAll(filepath.Join(dir, "etcd", "member", "wal")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		// The write that meets the failure would wait for its own timeout.
		select {
		case <-s.Failed():
			cancel()
		case <-ctx.Done():
		}
	}()
	value := []byte(strings.Repeat("x", maxTxnBytes))
	for written := 0; written < 4*walSegmentBytes; written += len(value) {
		if err := s.Put(ctx, map[string][]byte{"key": value}); err != nil {
			break
		}
	}
	select {
	case <-s.Failed():
	case <-time.After(time.Minute):
		t.Error("the store does not say that it failed")
	}
	if err := s.Err(); err == nil || !strings.Contains(err.Error(), filepath.Join(dir, "etcd")) {
		t.Errorf("error: %v", err)
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Stop()
	}()
	select {
	case <-stopped:
	case <-time.After(time.Minute):
		t.Error("the store does not stop")
	}
}
