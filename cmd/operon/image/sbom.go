package image

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// sbomType is the media type of a bill of materials in CycloneDX's JSON.
const sbomType = types.MediaType("application/vnd.cyclonedx+json")

// bill returns the bill of materials of a binary: the modules that the Go linker wrote into it.
func bill(binary string, made time.Time) ([]byte, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("modules of the binary: %w", err)
	}
	bom := cdx.NewBOM()
	main := component(&info.Main, cdx.ComponentTypeApplication)
	bom.Metadata = &cdx.Metadata{
		Timestamp: made.UTC().Format(time.RFC3339),
		Component: &main,
		Tools:     &cdx.ToolsChoice{Components: &[]cdx.Component{{Type: cdx.ComponentTypeApplication, Name: "operon"}}},
	}
	std := debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	components := []cdx.Component{component(&std, cdx.ComponentTypeLibrary)}
	refs := []string{components[0].BOMRef}
	for _, module := range info.Deps {
		if r := module.Replace; r != nil && r.Version != "" {
			module = r
		} else if r != nil { // by a directory, whose path is nobody's business
			module = &debug.Module{Path: module.Path}
		}
		c := component(module, cdx.ComponentTypeLibrary)
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}

	var buf bytes.Buffer
	if err := cdx.NewBOMEncoder(&buf, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return nil, fmt.Errorf("bill of materials: %w", err)
	}
	return buf.Bytes(), nil
}

// component describes a module by its package URL. Versions of modules replaced by a directory, and of the main one, are not known.
func component(m *debug.Module, kind cdx.ComponentType) cdx.Component {
	version := strings.TrimPrefix(m.Version, "(devel)")
	url := "pkg:golang/" + m.Path
	if version != "" {
		url += "@" + version
	}
	return cdx.Component{BOMRef: url, Type: kind, Name: m.Path, Version: version, PackageURL: url}
}

// attach returns an artifact that holds a bill of materials and refers to the image that it describes.
func attach(image v1.Image, p v1.Platform, bill []byte) (v1.Image, error) {
	subject, err := partial.Descriptor(image)
	if err != nil {
		return nil, err
	}
	artifact := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), sbomType)
	artifact, err = mutate.Append(artifact, mutate.Addendum{Layer: static.NewLayer(bill, sbomType), MediaType: sbomType})
	if err != nil {
		return nil, fmt.Errorf("bill of materials for %s: %w", p, err)
	}
	withSubject, ok := mutate.Subject(artifact, *subject).(v1.Image)
	if !ok {
		return nil, fmt.Errorf("bill of materials for %s: it cannot refer to its image", p)
	}
	return withSubject, nil
}
