// Package conversion names what API types implement to be converted between
// the versions of their kind.
//
// One version of a kind is its [Hub]. All others are [Convertible] to and from
// it, so that n versions need n-1 pairs of conversions. Package webhook/conversion serves
// them to the API server. The alternative, which keeps the code out of the
// packages of API types, is webhook/conversion.NewHubSpokeConverter.
//
// A conversion must keep everything: what the other version has no field for
// goes into an annotation, or it is lost on the way through. Package
// webhook/conversion/roundtrip tests that.
package conversion

import "k8s.io/apimachinery/pkg/runtime"

// Convertible is a version of a kind that converts itself to and from the hub.
type Convertible interface {
	runtime.Object

	// ConvertTo writes the object into dst, the hub. Its kind and version are already set.
	ConvertTo(dst Hub) error

	// ConvertFrom reads the object from src, the hub.
	ConvertFrom(src Hub) error
}

// Hub is the version of a kind through which the others are converted.
type Hub interface {
	runtime.Object

	// Hub marks the type. It is never called.
	Hub()
}
