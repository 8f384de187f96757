package conversion

import "github.com/operon-dev/operon/cmd/operon/generate/marker"

const (
	hubMarker   = "operon:conversion:hub"
	kindMarker  = "operon:conversion:kind"
	fieldMarker = "operon:conversion:field"
	dropMarker  = "operon:conversion:drop"
	keepMarker  = "operon:conversion:keep"
)

// Hub names the package of the hub version: its import path, or a path relative to the package that begins with a dot.
type Hub string

// Renamed names the kind of the hub version.
type Renamed string

// Counterpart names the field of the other version.
type Counterpart string

// Drop says that a field is lost in conversion.
type Drop struct{}

// Keep says that a field that the other version does not have is kept in an annotation there.
type Keep struct{}

// Markers are what the generator reads.
func (Generator) Markers() []marker.Definition {
	help := func(summary string) marker.Help {
		return marker.Help{Category: "Operon: conversion", Summary: summary}
	}
	return []marker.Definition{
		marker.Define[Hub](hubMarker, marker.OnPackage, help("has the kinds of the package converted to and from those of the same names in another package, such as ../v2.")),
		marker.Define[Hub](hubMarker, marker.OnType, help("has the kind converted to and from that of the same name in another package, such as ../v2.")),
		marker.Define[Renamed](kindMarker, marker.OnType, help("names the kind of the hub that this one is converted to and from, where it has another name there.")),
		marker.Define[Counterpart](fieldMarker, marker.OnField, help("names the field of the other version that this one becomes.")),
		marker.Define[Drop](dropMarker, marker.OnField, help("the other version has no such field, and the value is lost there.")),
		marker.Define[Keep](keepMarker, marker.OnField, help("the other version has no such field, and the value is kept in an annotation there.")),
	}
}
