package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// refName is the annotation by which a layout names what it holds (OCI image specification, annotations).
const refName = "org.opencontainers.image.ref.name"

// Options says what Build makes.
type Options struct {
	// Root is the project's directory, Package the manager's package in it.
	Root, Package string
	// Reference is the image's name.
	Reference name.Reference
	// Platforms to build for; at least one.
	Platforms []v1.Platform
	// Base is the image to build on; nil means none.
	Base name.Reference
	// Made is the time that everything in the image carries.
	Made time.Time
	// Labels are those of the image's configuration.
	Labels map[string]string
	// Step hears what is being done; Stderr gets what go says.
	Step   func(what string)
	Stderr io.Writer
}

// A Build is an image for some platforms, with the bills of materials, whose layers lie in a directory until Close.
type Build struct {
	Index v1.ImageIndex
	// Images and Bills have one element for each platform, in its order.
	Images []v1.Image
	Bills  []v1.Image

	reference name.Reference
	dir       string
}

// Compile builds the images that o asks for.
func Compile(ctx context.Context, o Options) (_ *Build, err error) {
	for _, p := range o.Platforms { // of the last, too, before the first is compiled
		if err := compilable(ctx, o.Root, o.Package, p); err != nil {
			return nil, err
		}
	}
	bases, err := fetchBases(ctx, o) // before the minutes of compiling, too
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "operon-build-")
	if err != nil {
		return nil, err
	}
	b := &Build{reference: o.Reference, dir: dir}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	b.Index = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for i, p := range o.Platforms {
		o.Step("compiling " + o.Package + " for " + p.String())
		binary := filepath.Join(dir, fmt.Sprintf("manager-%d", i))
		if err := compile(ctx, o.Root, o.Package, p, binary, o.Stderr); err != nil {
			return nil, err
		}
		image, err := assemble(bases[i], binary, p, o.Made, o.Labels)
		if err != nil {
			return nil, err
		}
		text, err := bill(binary, o.Made)
		if err != nil {
			return nil, err
		}
		artifact, err := attach(image, p, text)
		if err != nil {
			return nil, err
		}
		b.Images, b.Bills = append(b.Images, image), append(b.Bills, artifact)
		b.Index = mutate.AppendManifests(b.Index, mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &p}})
	}
	return b, nil
}

// fetchBases gets the image to build on for each platform; nil for all of them where there is none. Layers are read when the image is written.
func fetchBases(ctx context.Context, o Options) ([]v1.Image, error) {
	bases := make([]v1.Image, len(o.Platforms))
	if o.Base == nil {
		return bases, nil
	}
	login, err := credentials(o.Base)
	if err != nil {
		return nil, err
	}
	for i, p := range o.Platforms {
		o.Step("fetching " + o.Base.String() + " for " + p.String())
		bases[i], err = remote.Image(o.Base, remote.WithContext(ctx), remote.WithPlatform(p), remote.WithAuth(login))
		if err == nil {
			_, err = bases[i].ConfigFile()
		}
		if err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("base image %s for %s: %w: see that --base names one that its registry gives you, for this platform too", o.Base, p, err)
		}
	}
	return bases, nil
}

// Close removes what the build keeps on disk.
func (b *Build) Close() error { return os.RemoveAll(b.dir) }

// WriteLayout puts the build into an OCI layout at dir, in place of the layout that is there. A directory that holds anything else
// is an error.
func (b *Build) WriteLayout(dir string) (err error) {
	if err := replaceable(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	// Beside the goal, so that a rename puts the whole in place at once.
	scratch, err := os.MkdirTemp(filepath.Dir(dir), "."+filepath.Base(dir)+"-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	next := filepath.Join(scratch, "next")
	target, err := layout.Write(next, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err == nil {
		err = target.AppendIndex(b.Index, layout.WithAnnotations(map[string]string{refName: b.reference.String()}))
	}
	for _, artifact := range b.Bills {
		if err == nil {
			err = target.AppendImage(artifact)
		}
	}
	if err != nil {
		return fmt.Errorf("layout %s: %w", dir, err)
	}
	if err := os.Rename(dir, filepath.Join(scratch, "last")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(next, dir)
}

// WriteTarball puts the build's only image into a file that docker load and its kin take.
func (b *Build) WriteTarball(path string) (err error) {
	if len(b.Images) != 1 {
		return fmt.Errorf("a tarball holds one platform, not %d: choose it with --platform", len(b.Images))
	}
	scratch, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(scratch.Name())
		}
	}()
	if err := errors.Join(tarball.Write(b.reference, b.Images[0], scratch), scratch.Chmod(0o644), scratch.Close()); err != nil {
		return fmt.Errorf("tarball %s: %w", path, err)
	}
	return os.Rename(scratch.Name(), path)
}
