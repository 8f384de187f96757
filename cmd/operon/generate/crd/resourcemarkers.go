package crd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// resourceMarker is a marker on a kind that changes its definition, or the version that the marked type is.
type resourceMarker struct {
	marker.Definition
	apply func(def *Definition, v *Version, value any) error
	// futile tells what of it leads nowhere, though the API server takes it. It is nil for markers that have an effect wherever they are.
	futile func(v *Version, value any) []futile
	// writes are the fields of a definition that its arguments come to, and the arguments, so that what the API server says of a field is said of its
	// argument. The whole marker is "".
	writes map[string]string
}

func onKind[T any](name, summary string, apply func(def *Definition, v *Version, value T) error) resourceMarker {
	return resourceMarker{
		Definition: marker.Define[T](name, marker.OnType, marker.Help{Category: "CRD", Summary: summary}),
		apply:      func(def *Definition, v *Version, value any) error { return apply(def, v, value.(T)) },
	}
}

// unless gives a marker what tells where it leads nowhere.
func unless[T any](find func(v *Version, value T) []futile, m resourceMarker) resourceMarker {
	m.futile = func(v *Version, value any) []futile { return find(v, value.(T)) }
	return m
}

// writing gives a marker the fields that it comes to.
func (m resourceMarker) writing(fields map[string]string) resourceMarker {
	m.writes = fields
	return m
}

// writer is the marker that a field of a definition comes from, and the argument. What comes from none comes from declarations.
func writer(field string) (marker, argument string, ok bool) {
	for _, m := range resourceMarkers {
		if argument, ok := m.writes[field]; ok {
			return m.Name, argument, true
		}
	}
	return "", "", false
}

// Resource names the resource.
type Resource struct {
	Path       string   `marker:",optional"`
	ShortName  []string `marker:",optional"`
	Categories []string `marker:",optional"`
	Singular   string   `marker:",optional"`
	Scope      string   `marker:",optional"`
}

// PrintColumn is a column of "kubectl get".
type PrintColumn struct {
	Name        string
	Type        string
	JSONPath    string `marker:"JSONPath"`
	Description string `marker:",optional"`
	Format      string `marker:",optional"`
	Priority    int32  `marker:",optional"`
}

// SelectableField is a field for field selectors.
type SelectableField struct {
	JSONPath string `marker:"JSONPath"`
}

// Scale says where the numbers of the scale subresource are.
type Scale struct {
	SpecPath     string  `marker:"specpath"`
	StatusPath   string  `marker:"statuspath"`
	SelectorPath *string `marker:"selectorpath"`
}

// Metadata is for the definition's own metadata.
type Metadata struct {
	Annotations []string `marker:",optional"`
	Labels      []string `marker:",optional"`
}

// Deprecation is what "kubectl" says about a deprecated version.
type Deprecation struct {
	Warning *string
}

// resourceMarkers are the markers of kinds.
var resourceMarkers = []resourceMarker{
	onKind("kubebuilder:resource", "how the resource is called, and whether it is in namespaces.", func(def *Definition, _ *Version, r Resource) error {
		if r.Path != "" {
			def.Plural = r.Path
		}
		if r.Singular != "" {
			def.Singular = r.Singular
		}
		def.ShortNames, def.Categories = r.ShortName, r.Categories
		switch r.Scope {
		case "":
			def.Scope = "Namespaced"
		case "Cluster", "Namespaced":
			def.Scope = r.Scope
		default:
			def.Scope = r.Scope
			return inArgument("scope", "scope is Cluster or Namespaced, not %q", r.Scope)
		}
		return nil
	}).writing(map[string]string{
		"names.plural":     "path",
		"names.singular":   "singular",
		"names.shortNames": "shortName",
		"names.categories": "categories",
		"scope":            "scope",
	}),
	onKind("kubebuilder:metadata", "annotations and labels of the definition.", func(def *Definition, _ *Version, m Metadata) error {
		if err := putPairs(def.Annotations, m.Annotations); err != nil {
			return inArgument("annotations", "%w", err)
		}
		if err := putPairs(def.Labels, m.Labels); err != nil {
			return inArgument("labels", "%w", err)
		}
		return nil
	}),
	unless(futileStatus, onKind("kubebuilder:subresource:status", "the status is a subresource.", func(_ *Definition, v *Version, _ none) error {
		v.Status = true
		return nil
	})),
	unless(futileScale, onKind("kubebuilder:subresource:scale", "the scale is a subresource, for kubectl scale and autoscalers.", func(_ *Definition, v *Version, s Scale) error {
		v.Scale = &s
		return nil
	}).writing(map[string]string{
		"subresources.scale.specReplicasPath":   "specpath",
		"subresources.scale.statusReplicasPath": "statuspath",
		"subresources.scale.labelSelectorPath":  "selectorpath",
	})),
	unless(futileColumn, onKind("kubebuilder:printcolumn", "a column of kubectl get.", func(_ *Definition, v *Version, c PrintColumn) error {
		v.Columns = append(v.Columns, c)
		return nil
	}).writing(map[string]string{
		"additionalPrinterColumns.name":     "name",
		"additionalPrinterColumns.type":     "type",
		"additionalPrinterColumns.format":   "format",
		"additionalPrinterColumns.JSONPath": "JSONPath",
	})),
	onKind("kubebuilder:selectablefield", "a field that field selectors may name.", func(_ *Definition, v *Version, f SelectableField) error {
		v.Selectable = append(v.Selectable, f)
		return nil
	}).writing(map[string]string{
		"selectableFields":          "",
		"selectableFields.jsonPath": "JSONPath",
	}),
	onKind("kubebuilder:storageversion", "this version is the one that is stored.", func(_ *Definition, v *Version, _ none) error {
		v.Storage = true
		return nil
	}),
	onKind("kubebuilder:unservedversion", "this version is not served.", func(_ *Definition, v *Version, _ none) error {
		v.Served = false
		return nil
	}),
	onKind("kubebuilder:deprecatedversion", "this version is deprecated.", func(_ *Definition, v *Version, d Deprecation) error {
		v.Deprecated, v.Warning = true, d.Warning
		return nil
	}).writing(map[string]string{
		"deprecationWarning": "warning",
	}),
}

// settings are markers that the generator reads where it needs them.
var settings = []marker.Definition{
	marker.Define[*string]("groupName", marker.OnPackage, marker.Help{Category: "CRD", Summary: "the API group of the package."}),
	marker.Define[string]("versionName", marker.OnPackage, marker.Help{Category: "CRD", Summary: "the API version of the package, where it is not the package's name."}),
	marker.Define[none]("kubebuilder:skip", marker.OnPackage, marker.Help{Category: "CRD", Summary: "the package is no API version."}),
	marker.Define[none]("kubebuilder:skipversion", marker.OnType, marker.Help{Category: "CRD", Summary: "this version is left out of the definition."}),
	marker.Define[none]("kubebuilder:validation:Optional", marker.OnPackage, validating("fields are optional unless they say otherwise.")),
	marker.Define[none]("kubebuilder:validation:Required", marker.OnPackage, validating("fields are required unless they say otherwise.")),
	marker.Define[none]("kubebuilder:validation:Schemaless", marker.OnField, validating("the field gets no schema from its type.")),
	marker.Define[none](nestedDefault, marker.OnField, marker.Help{
		Category: "CRD validation of Operon's own",
		Summary:  "the default of this object is made of the defaults of its fields.",
		Details: `So the fields' defaults hold where the object as a whole is left out. +kubebuilder:default={} achieves that only while all of the
fields are optional: the API server refuses a default that lacks a required field, even where that field has a default of its own.`,
	}),
	marker.Define[none]("optional", marker.OnField, validating("the field is optional.")),
	marker.Define[none]("required", marker.OnField, validating("the field is required.")),
	marker.Define[none]("k8s:optional", marker.OnField, validating("the field is optional.")),
	marker.Define[none]("kubebuilder:validation:Optional", marker.OnField, marker.Help{Category: "CRD validation", Summary: "the field is optional.", Deprecated: "optional"}),
	marker.Define[none]("kubebuilder:validation:Required", marker.OnField, marker.Help{Category: "CRD validation", Summary: "the field is required.", Deprecated: "required"}),
}

var definitions = allDefinitions()

func allDefinitions() []marker.Definition {
	out := slices.Clone(settings)
	for _, m := range resourceMarkers {
		out = append(out, m.Definition)
	}
	for _, m := range schemaMarkers {
		out = append(out, m.Definition)
	}
	return out
}

// putPairs adds "key=value" texts to a map.
func putPairs(m map[string]string, pairs []string) error {
	for _, pair := range pairs {
		k, v, ok := strings.Cut(pair, "=")
		if !ok {
			return fmt.Errorf("%q is not of the form key=value", pair)
		}
		m[k] = v
	}
	return nil
}

func (c PrintColumn) tree() map[string]any {
	m := map[string]any{"name": c.Name, "type": c.Type, "jsonPath": c.JSONPath}
	if c.Description != "" {
		m["description"] = c.Description
	}
	if c.Format != "" {
		m["format"] = c.Format
	}
	if c.Priority != 0 {
		m["priority"] = c.Priority
	}
	return m
}

func (s Scale) tree() map[string]any {
	m := map[string]any{"specReplicasPath": s.SpecPath, "statusReplicasPath": s.StatusPath}
	if s.SelectorPath != nil {
		m["labelSelectorPath"] = *s.SelectorPath
	}
	return m
}
