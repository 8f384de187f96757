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

// Push writes the layout in dir, which WriteLayout made, to a registry under the name to, or its own where to is nil, and reports
// what that is. Credentials are those of docker and podman, and of their helpers.
func Push(ctx context.Context, dir string, to name.Reference) (Report, error) {
	index, artifacts, named, err := load(dir)
	if err != nil {
		return Report{}, err
	}
	if to == nil {
		to = named
	}
	login, err := credentials(to)
	if err != nil {
		return Report{}, err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuth(login)}
	if err := remote.WriteIndex(to, index, options...); err != nil {
		return Report{}, refused(to, err)
	}
	for _, artifact := range artifacts {
		digest, err := artifact.Digest()
		if err != nil {
			return Report{}, err
		}
		if err := remote.Write(to.Context().Digest(digest.String()), artifact, options...); err != nil {
			return Report{}, refused(to, err)
		}
	}
	return newReport(to, index, dir)
}

// credentials are those of docker and podman for the registry of a name, or none where they have none.
func credentials(of name.Reference) (authn.Authenticator, error) {
	login, err := authn.DefaultKeychain.Resolve(of.Context())
	if err != nil {
		return nil, fmt.Errorf("the credentials for %s cannot be read: mend docker's or podman's settings, or log in anew with `docker login` or `podman login`: %w",
			of.Context().RegistryStr(), err)
	}
	return login, nil
}

// load returns what a layout holds: the index, the bills of materials, and the name that the index was built under.
func load(dir string) (index v1.ImageIndex, artifacts []v1.Image, named name.Reference, err error) {
	content, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s is no OCI layout: operon build makes it", dir)
	}
	manifest, err := content.IndexManifest()
	if err != nil {
		return nil, nil, nil, fmt.Errorf("layout %s is not whole: operon build makes it anew: %w", dir, err)
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
			return nil, nil, nil, fmt.Errorf("layout %s is not whole: operon build makes it anew: %w", dir, err)
		}
	}
	if index == nil {
		return nil, nil, nil, fmt.Errorf("layout %s holds no image index: operon build makes one", dir)
	}
	return index, artifacts, named, nil
}

// refused says what a registry has against a push, and what to do about it.
func refused(to name.Reference, err error) error {
	var status *transport.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case !errors.As(err, &status):
		return fmt.Errorf("%s: the registry does not answer (%w): see that it runs under this name, and call operon push again", to, err)
	case status.StatusCode == http.StatusUnauthorized || status.StatusCode == http.StatusForbidden:
		return fmt.Errorf("%s: the registry does not let you: log in with `docker login` or `podman login`, whose credentials are used here: %w", to, err)
	default:
		return fmt.Errorf("%s: the registry refuses the image (%w): see that it takes images under this name, and call operon push again", to, err)
	}
}
