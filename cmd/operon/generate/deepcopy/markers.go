package deepcopy

import "github.com/operon-dev/operon/cmd/operon/generate/marker"

const (
	rootMarker       = "kubebuilder:object:root"
	enableMarker     = "kubebuilder:object:generate"
	interfacesMarker = "k8s:deepcopy-gen:interfaces"
	legacyMarker     = "k8s:deepcopy-gen"
)

// Root says whether a type is the root of an API: an object, which has DeepCopyObject besides the other methods.
type Root bool

// Enable turns deep-copy methods on or off, for a package or for one of its types.
type Enable bool

// Interfaces is the older way to say Root: the name of the interface that the type is to satisfy.
type Interfaces string

// Markers are what the generator reads.
func (Generator) Markers() []marker.Definition {
	help := func(summary, instead string) marker.Help {
		return marker.Help{Category: "object", Summary: summary, Deprecated: instead}
	}
	return []marker.Definition{
		marker.Define[Root](rootMarker, marker.OnType,
			help("makes the type a runtime.Object", "")),
		marker.Define[Enable](enableMarker, marker.OnPackage,
			help("says whether the types of the package get deep copies, and are made objects where they are marked", "")),
		marker.Define[Enable](enableMarker, marker.OnType,
			help("says whether the type gets deep copies, whatever its package says", "")),
		marker.Define[Interfaces](interfacesMarker, marker.OnType,
			help("makes the type a runtime.Object", rootMarker)),
		marker.Define[marker.RawText](legacyMarker, marker.OnPackage,
			help("says whether the types of the package get deep copies, and are made objects where they are marked", enableMarker)),
		marker.Define[marker.RawText](legacyMarker, marker.OnType,
			help("says whether the type gets deep copies, whatever its package says", enableMarker)),
	}
}
