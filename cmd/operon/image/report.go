package image

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/operon-dev/operon/cmd/operon/cmdline"
)

// A Report is what -o json prints of an image.
type Report struct {
	// Image is the name that the image was given, Reference the one by which everybody gets exactly this image.
	Image     string `json:"image"`
	Reference string `json:"reference"`
	Digest    string `json:"digest"`
	// Platforms has the digest of the image for each platform.
	Platforms map[string]string `json:"platforms"`
	Layout    string            `json:"layout"`
	Tarball   string            `json:"tarball,omitempty"`
	Pushed    bool              `json:"pushed"`
}

func newReport(to name.Reference, index v1.ImageIndex, layout string) (Report, error) {
	digest, err := index.Digest()
	if err != nil {
		return Report{}, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return Report{}, err
	}
	r := Report{
		Image: to.String(), Reference: to.Context().Digest(digest.String()).String(), Digest: digest.String(),
		Platforms: map[string]string{}, Layout: layout,
	}
	for _, m := range manifest.Manifests {
		if m.Platform != nil {
			r.Platforms[m.Platform.String()] = m.Digest.String()
		}
	}
	return r, nil
}

// print prints the report as JSON, or as the one line that people and simple scripts want: what was pushed by its digest, what was built
// with its tag as well.
func (r Report) print(w io.Writer, output string) error {
	if output == cmdline.JSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(r)
	}
	line := r.Image + "@" + r.Digest
	if r.Pushed {
		line = r.Reference
	}
	_, err := fmt.Fprintln(w, line)
	return err
}
