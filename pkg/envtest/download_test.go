//go:build unix

package envtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// packed is an archive of these files.
func packed(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	files := tar.NewWriter(zipped)
	for _, name := range names {
		if err := files.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(name))}); err != nil {
			t.Fatal(err)
		}
		if _, err := files.Write([]byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestProgramsAreDownloadedWhole(t *testing.T) {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	good := packed(t, "controller-tools/envtest/etcd", "controller-tools/envtest/kube-apiserver", "controller-tools/envtest/kubectl", "../../evil")
	archives := map[string][]byte{"/good": good, "/short": packed(t, "etcd"), "/garbage": []byte("garbage")}
	var asked atomic.Int32
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	defer server.Close()
	for path, content := range archives {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			asked.Add(1)
			_, _ = w.Write(content)
		})
	}
	var index strings.Builder
	index.WriteString("releases:\n")
	for version, path := range map[string]string{"v1.29.0": "/good", "v1.30.1": "/good", "v1.31.0-beta.1": "/good", "v1.28.0": "/short", "v1.27.0": "/garbage", "v1.26.0": "/gone"} {
		sum := sha512.Sum512(archives[path])
		fmt.Fprintf(&index, "  %s:\n    envtest-%s-%s.tar.gz: {hash: %s, selfLink: %s%s}\n", version, version, platform, hex.EncodeToString(sum[:]), server.URL, path)
	}
	fmt.Fprintf(&index, "  v1.25.0:\n    envtest-v1.25.0-%s.tar.gz: {hash: abc, selfLink: %s/good}\n  v1.24.0: {}\n", platform, server.URL)
	mux.HandleFunc("/index.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(index.String())) })
	mux.HandleFunc("/nonsense.yaml", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[")) })

	base := t.TempDir()
	for _, tc := range []struct{ want, chosen string }{{"", "1.30.1"}, {"v1.29.0", "1.29.0"}, {"1.29.0", "1.29.0"}, {"1.31.0-beta.1", "1.31.0-beta.1"}} {
		for range 2 {
			before := asked.Load()
			there := complete(filepath.Join(base, "k8s", tc.chosen+"-"+platform))
			dir, err := fetch(t.Context(), server.URL+"/index.yaml", tc.want, base)
			if err != nil || dir != filepath.Join(base, "k8s", tc.chosen+"-"+platform) || !complete(dir) {
				t.Errorf("%q: %s, %v", tc.want, dir, err)
			}
			if there && asked.Load() != before {
				t.Errorf("%q: downloaded again", tc.want)
			}
		}
	}
	for want, says := range map[string]string{
		"1.28.0": "does not hold", "1.27.0": "EOF", "1.26.0": "404", "1.25.0": "SHA-512", "1.24.0": "has no envtest-", "1.1.1": "there is no version v1.1.1",
	} {
		if _, err := fetch(t.Context(), server.URL+"/index.yaml", want, base); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", want, err, says)
		}
	}
	if _, err := fetch(t.Context(), server.URL+"/nonsense.yaml", "", base); err == nil {
		t.Error("an index that is none is accepted")
	}
	entries, err := os.ReadDir(filepath.Join(base, "k8s"))
	if err != nil || len(entries) != 3 {
		t.Errorf("left: %v, %v", entries, err)
	}

	t.Setenv("TMPDIR", t.TempDir())
	env := &Environment{DownloadBinaryAssets: true, DownloadBinaryAssetsIndexURL: server.URL + "/nowhere.yaml"}
	if _, err := env.Start(); err == nil || !strings.Contains(err.Error(), "leave out DownloadBinaryAssets") {
		t.Errorf("error = %v", err)
	}
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
