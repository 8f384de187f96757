package applyconfiguration

import (
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

const (
	enableMarker   = "kubebuilder:ac:generate"
	outputMarker   = "kubebuilder:ac:output:package"
	groupMarker    = "groupName"
	resourceMarker = "kubebuilder:resource"
)

// Enable turns apply configurations on or off for a package.
type Enable bool

// Output names the directory for the apply configurations of a package, relative to the package's own.
type Output string

// Markers are what the generator reads, those of package crd among them, which the schemas follow from.
func (Generator) Markers() []marker.Definition {
	help := func(summary string) marker.Help { return marker.Help{Category: "apply", Summary: summary} }
	return append(crd.Generator{}.Markers(),
		marker.Define[Enable](enableMarker, marker.OnPackage,
			help("says whether the package gets apply configurations, whatever its types say")),
		marker.Define[Enable](enableMarker, marker.OnType,
			help("overrides disabling applyconfiguration generation for a type with +kubebuilder:resource; one with +genclient has it in any case")),
		marker.Define[Output](outputMarker, marker.OnPackage,
			help(`overrides the output directory of the apply configurations, relative to the package. The default is "applyconfiguration"`)),
	)
}
