package image

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// Push writes the layout in dir, which WriteLayout made, to a registry under the name to, or its own where to is nil, and returns
// that name with the index's digest. Credentials are those of docker and podman, and of their helpers.
func Push(ctx context.Context, dir string, to name.Reference) (name.Digest, error) {
	index, artifacts, named, err := load(dir)
	if err != nil {
		return name.Digest{}, err
	}
	if to == nil {
		to = named
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	if err := remote.WriteIndex(to, index, options...); err != nil {
		return name.Digest{}, refused(to, err)
	}
	for _, artifact := range artifacts {
		digest, err := artifact.Digest()
		if err != nil {
			return name.Digest{}, err
		}
		if err := remote.Write(to.Context().Digest(digest.String()), artifact, options...); err != nil {
			return name.Digest{}, refused(to, err)
		}
	}
	digest, err := index.Digest()
	if err != nil {
		return name.Digest{}, err
	}
	return to.Context().Digest(digest.String()), nil
}

// load returns what a layout holds: the index, the bills of materials, and the name that the index was built under.
func load(dir string) (index v1.ImageIndex, artifacts []v1.Image, named name.Reference, err error) {
	content, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s is no OCI layout: operon build makes it", dir)
	}
	manifest, err := content.IndexManifest()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("layout %s: %w", dir, err)
	}
	for _, descriptor := range manifest.Manifests {
		switch {
		case descriptor.MediaType.IsIndex():
			if index, err = content.ImageIndex(descriptor.Digest); err == nil {
				named, err = name.ParseReference(descriptor.Annotations[refName])
			}
		default:
			var artifact v1.Image
			artifact, err = content.Image(descriptor.Digest)
			artifacts = append(artifacts, artifact)
		}
		if err != nil {
			return nil, nil, nil, fmt.Errorf("layout %s: %w", dir, err)
		}
	}
	if index == nil {
		return nil, nil, nil, fmt.Errorf("layout %s holds no image index: operon build makes one", dir)
	}
	return index, artifacts, named, nil
}

// refused says what a registry has against a push.
func refused(to name.Reference, err error) error {
	var status *transport.Error
	if errors.As(err, &status) && (status.StatusCode == http.StatusUnauthorized || status.StatusCode == http.StatusForbidden) {
		return fmt.Errorf("%s: the registry does not let you: log in with `docker login` or `podman login`, whose credentials are used here: %w", to, err)
	}
	return fmt.Errorf("%s: %w", to, err)
}
