package envtest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"
)

const (
	// downloadTimeout bounds the download of some hundred megabytes.
	downloadTimeout = 10 * time.Minute
	// downloadLimit bounds what an archive may hold.
	downloadLimit = 2 << 30
	// indexLimit bounds the index.
	indexLimit = 16 << 20
)

var downloadedPrograms = []string{"etcd", "kube-apiserver", "kubectl"}

// releases are the archives by version and file name.
type releases struct {
	Releases map[string]map[string]archive `json:"releases"`
}

type archive struct {
	// Hash is the archive's SHA-512.
	Hash     string `json:"hash"`
	SelfLink string `json:"selfLink"`
}

// download puts the programs that the fields ask for into a directory, if they
// are not there, and has the control plane run them.
func (e *Environment) download() error {
	ctx, cancel := context.WithTimeout(context.Background(), downloadTimeout)
	defer cancel()
	index := e.DownloadBinaryAssetsIndexURL
	if index == "" {
		index = DefaultBinaryAssetsIndexURL
	}
	base := e.BinaryAssetsDirectory
	if base == "" {
		var err error
		if e.downloads, err = os.MkdirTemp("", "operon-envtest-assets-"); err != nil {
			return err
		}
		base = e.downloads
	}
	dir, err := fetch(ctx, index, e.DownloadBinaryAssetsVersion, base)
	if err != nil {
		return errors.Join(fmt.Errorf("download of envtest binaries: %w: leave out DownloadBinaryAssets to use the operon command, which needs no download", err), e.removeDownloads())
	}
	if e.ControlPlane.Etcd == nil {
		e.ControlPlane.Etcd = &Etcd{}
	}
	e.ControlPlane.Etcd.Path = filepath.Join(dir, "etcd")
	e.ControlPlane.GetAPIServer().Path = filepath.Join(dir, "kube-apiserver")
	e.ControlPlane.KubectlPath = filepath.Join(dir, "kubectl")
	return nil
}

func (e *Environment) removeDownloads() error {
	if e.downloads == "" {
		return nil
	}
	err := os.RemoveAll(e.downloads)
	e.downloads = ""
	return err
}

// fetch returns the directory below base that holds the programs of a version, and downloads them where they are missing.
func fetch(ctx context.Context, index, want, base string) (string, error) {
	platform := runtime.GOOS + "-" + runtime.GOARCH
	directory := func(v string) string {
		return filepath.Join(base, "k8s", strings.TrimPrefix(v, "v")+"-"+platform)
	}
	if want != "" && complete(directory(want)) {
		return directory(want), nil
	}
	content, err := get(ctx, index, indexLimit)
	if err != nil {
		return "", err
	}
	var known releases
	if err := yaml.Unmarshal(content, &known); err != nil {
		return "", fmt.Errorf("%s: %w", index, err)
	}
	chosen, err := known.choose(want)
	if err != nil {
		return "", fmt.Errorf("%s: %w", index, err)
	}
	dir := directory(chosen)
	if complete(dir) {
		return dir, nil
	}
	name := "envtest-" + chosen + "-" + platform + ".tar.gz"
	from, there := known.Releases[chosen][name]
	if !there {
		return "", fmt.Errorf("%s: version %s has no %s", index, chosen, name)
	}
	packed, err := get(ctx, from.SelfLink, downloadLimit)
	if err != nil {
		return "", err
	}
	if sum := sha512.Sum512(packed); hex.EncodeToString(sum[:]) != from.Hash {
		return "", fmt.Errorf("%s: its SHA-512 is not the one in the index", from.SelfLink)
	}
	return dir, unpackInto(dir, packed)
}

// choose returns the version that is wanted, or the latest that is not a preview.
func (r releases) choose(want string) (string, error) {
	if want != "" {
		if !strings.HasPrefix(want, "v") {
			want = "v" + want
		}
		if _, there := r.Releases[want]; !there {
			return "", fmt.Errorf("there is no version %s", want)
		}
		return want, nil
	}
	var latest *version.Version
	for name := range r.Releases {
		v, err := version.ParseSemantic(name)
		if err == nil && v.PreRelease() == "" && (latest == nil || latest.LessThan(v)) {
			latest = v
		}
	}
	if latest == nil {
		return "", errors.New("it has no version that is not a preview")
	}
	return "v" + latest.String(), nil
}

func complete(dir string) bool {
	return !slices.ContainsFunc(downloadedPrograms, func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err != nil || !info.Mode().IsRegular()
	})
}

func get(ctx context.Context, address string, limit int64) (content []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", address, answer.Status)
	}
	content, err = io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = fmt.Errorf("%s: more than %d bytes", address, limit)
	}
	return content, err
}

// unpackInto makes the directory with the programs of an archive: all of them, or no directory.
func unpackInto(dir string, packed []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	partial, err := os.MkdirTemp(filepath.Dir(dir), ".partial-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(partial)) }()
	if err := unpack(partial, packed); err != nil {
		return err
	}
	if !complete(partial) {
		return fmt.Errorf("the archive does not hold %s", strings.Join(downloadedPrograms, ", "))
	}
	if err := os.Chmod(partial, 0o755); err != nil {
		return err
	}
	// What was there was not complete.
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Rename(partial, dir)
}

// unpack writes the programs, wherever in the archive they are, and nothing else.
func unpack(dir string, packed []byte) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.Base(header.Name)
		if header.Typeflag != tar.TypeReg || !slices.Contains(downloadedPrograms, name) {
			continue
		}
		if err := writeProgram(filepath.Join(dir, name), files); err != nil {
			return err
		}
	}
}

func writeProgram(path string, content io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(content, downloadLimit+1))
	if err == nil && n > downloadLimit {
		err = fmt.Errorf("%s: more than %d bytes", filepath.Base(path), int64(downloadLimit))
	}
	return errors.Join(err, f.Close())
}
