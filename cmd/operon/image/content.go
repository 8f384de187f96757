package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"os"
	"sort"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The user that the manager runs as, by the number that the field's distroless images and scaffolds use. A number and not a
// name, so that Kubernetes can verify runAsNonRoot.
const (
	user      = "65532:65532"
	passwd    = "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"
	group     = "root:x:0:\nnonroot:x:65532:\n"
	entry     = "/manager"
	roots     = "etc/ssl/certs/ca-certificates.crt"
	mediaType = types.OCILayer
)

// A file of a layer. Its owner is root and it is not writable: the manager runs as somebody else.
type file struct {
	name string
	mode int64
	data func() (io.ReadCloser, error)
	size int64
}

func text(name string, data []byte) file {
	return file{name: name, mode: 0o444, size: int64(len(data)), data: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

// layer returns the files, and the directories that hold them, as a layer whose bytes depend on nothing else but made.
func layer(made time.Time, files ...file) (v1.Layer, error) {
	sort.Slice(files, func(i, j int) bool { return files[i].name < files[j].name })
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(writeTar(w, made, files)) }()
		return r, nil
	}, tarball.WithMediaType(mediaType))
}

func writeTar(w io.Writer, made time.Time, files []file) error {
	archive := tar.NewWriter(w)
	dirs := map[string]bool{}
	for _, f := range files {
		for i, c := range f.name {
			dir := f.name[:i] + "/"
			if c != '/' || dirs[dir] {
				continue
			}
			dirs[dir] = true
			if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755, ModTime: made, Format: tar.FormatUSTAR}); err != nil {
				return err
			}
		}
		if err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: f.size, ModTime: made, Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		data, err := f.data()
		if err != nil {
			return err
		}
		_, err = io.Copy(archive, data)
		data.Close()
		if err != nil {
			return err
		}
	}
	return archive.Close()
}

// certificates returns the authorities that Mozilla trusts, as Go's own fallback does, so that a manager can talk TLS to the
// world outside the cluster. Authorities that are trusted under conditions are left out: a file of certificates cannot say
// which.
func certificates() []byte {
	var buf bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		pem.Encode(&buf, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // a bytes.Buffer takes everything
	}
	return buf.Bytes()
}

// assemble returns the image of a binary on top of base, or on nothing where base is nil.
func assemble(base v1.Image, binary string, p v1.Platform, made time.Time, labels map[string]string) (v1.Image, error) {
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	manager := file{name: entry[1:], mode: 0o555, size: info.Size(), data: func() (io.ReadCloser, error) { return os.Open(binary) }}
	var layers []v1.Layer
	if base == nil {
		base = mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
		world, err := layer(made, text("etc/passwd", []byte(passwd)), text("etc/group", []byte(group)), text(roots, certificates()))
		if err != nil {
			return nil, err
		}
		layers = append(layers, world)
	}
	program, err := layer(made, manager)
	if err != nil {
		return nil, err
	}
	layers = append(layers, program)

	var adds []mutate.Addendum
	for _, l := range layers {
		adds = append(adds, mutate.Addendum{Layer: l, MediaType: mediaType, History: v1.History{Created: v1.Time{Time: made}, CreatedBy: "operon build"}})
	}
	image, err := mutate.Append(base, adds...)
	if err != nil {
		return nil, fmt.Errorf("image for %s: %w", p, err)
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, fmt.Errorf("image for %s: %w", p, err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Variant = p.OS, p.Architecture, p.Variant
	config.Created = v1.Time{Time: made}
	config.Config.Entrypoint, config.Config.Cmd = []string{entry}, nil
	config.Config.User = user
	config.Config.WorkingDir = "/"
	if config.Config.Labels == nil && len(labels) > 0 {
		config.Config.Labels = map[string]string{}
	}
	maps.Copy(config.Config.Labels, labels) // the base has its own
	return mutate.ConfigFile(image, config)
}
