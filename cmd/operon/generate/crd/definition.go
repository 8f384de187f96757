package crd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gobuffalo/flect"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// VersionAnnotation is the annotation that tells which generator's output a definition is.
const VersionAnnotation = "controller-gen.kubebuilder.io/version"

// Definition is a CustomResourceDefinition.
type Definition struct {
	Group, Kind            string
	Plural, Singular, List string
	Scope                  string
	ShortNames, Categories []string
	Annotations, Labels    map[string]string
	Versions               []*Version

	// at is where the first version is declared.
	at diag.Mistake
}

// Version is one version of a kind.
type Version struct {
	Name            string
	Served, Storage bool
	Deprecated      bool
	Warning         *string
	Columns         []PrintColumn
	Selectable      []SelectableField
	Status          bool
	Scale           *Scale
	Schema          *Schema

	// Type is the declaration of it.
	Type *marker.Type
}

func newDefinition(group, kind string) *Definition {
	singular := strings.ToLower(kind)
	return &Definition{
		Group: group, Kind: kind, List: kind + "List", Scope: "Namespaced",
		Singular: singular, Plural: strings.ToLower(flect.Pluralize(kind)),
		Annotations: map[string]string{}, Labels: map[string]string{},
	}
}

// addVersion adds a version of the kind, and what its markers say about all of them.
func (b *builder) addVersion(def *Definition, version string, t *marker.Type) {
	v := &Version{Name: version, Served: true, Type: t, Schema: kindSchema(b.typeSchema(t.Package, t.Name))}
	if len(def.Versions) == 0 {
		spec := t.Decl.Spec.Name
		def.at = diag.Mistake{Pos: t.Package.Fset().Position(spec.Pos()), Len: len(spec.Name)}
	}
	def.Versions = append(def.Versions, v)
	// Where two packages declare the same version, the markers of both count for the first.
	v = def.Versions[slices.IndexFunc(def.Versions, func(have *Version) bool { return have.Name == version })]
	for _, m := range resourceMarkers {
		for i, value := range t.Markers[m.Name] {
			if err := m.apply(def, v, value); err != nil {
				at := argumentAt(t.Places[m.Name][i], err)
				b.mistake(t.Package, at.Pos, at.Len, "", "%v", err)
			}
		}
	}
}

// kindSchema is the schema of a kind, whose own metadata the API server defines.
func kindSchema(s *Schema) *Schema {
	if s.Properties["metadata"] == nil {
		return s
	}
	s = s.clone()
	s.Properties["metadata"] = &Schema{Type: "object"}
	return s
}

// finish sorts the versions, and decides which of them is stored.
func (b *builder) finish(def *Definition) {
	slices.SortStableFunc(def.Versions, func(a, b *Version) int { return cmp.Compare(a.Name, b.Name) })
	if len(def.Versions) == 1 {
		def.Versions[0].Storage = true
	}
	var stored, served []string
	for _, v := range def.Versions {
		if v.Storage {
			stored = append(stored, v.Name)
		}
		if v.Served {
			served = append(served, v.Name)
		}
	}
	because := func(fix, format string, args ...any) diag.Mistake {
		m := def.at
		m.What, m.Fix = fmt.Sprintf(format, args...), fix
		return m
	}
	switch len(stored) {
	case 1:
	case 0:
		if first, second, ok := sameVersion(def.Versions); ok {
			if first.Package != second.Package { // else the compiler says it
				spec := second.Decl.Spec.Name
				b.mistake(second.Package, spec.Pos(), len(spec.Name), "leave one of them, or give a package another +groupName or +versionName",
					"version %s of %s is declared twice, in the packages %s and %s", def.Versions[0].Name, def.Kind, first.Package.Path, second.Package.Path)
			}
			break
		}
		b.in.Mistakes.Add(because("put +kubebuilder:storageversion on the type of one of them", "%s has %d versions, and none is marked as the one to store", def.Kind, len(def.Versions)))
	default:
		// The API server refuses it, but published projects choose between such definitions later.
		m := because("leave one", "%s has +kubebuilder:storageversion on the versions %s", def.Kind, strings.Join(stored, " and "))
		m.Refused = true
		b.in.Doubt(m)
	}
	if len(served) == 0 {
		b.in.Mistakes.Add(because("drop +kubebuilder:unservedversion from one", "%s has no version that is served", def.Kind))
	}
}

// oneDefinitionEach reports kinds whose definitions have one name, so that they go to one file too.
func (b *builder) oneDefinitionEach(all []*Definition) {
	byName := map[string]*Definition{}
	for _, def := range all {
		name := def.Plural + "." + def.Group
		if first := byName[name]; first != nil {
			m := def.at
			m.What = fmt.Sprintf("%s and %s are both called %s in the API, and one definition replaces the other", first.Kind, def.Kind, name)
			m.Fix, m.Refused = "give one of them another name with +kubebuilder:resource:path=", true
			b.in.Mistakes.Add(m)
			continue
		}
		byName[name] = def
	}
}

// sameVersion finds two types that are the same version of a kind; the versions are sorted.
func sameVersion(sorted []*Version) (first, second *marker.Type, ok bool) {
	for i, v := range sorted[1:] {
		if sorted[i].Name == v.Name && sorted[i].Type != nil && v.Type != nil {
			return sorted[i].Type, v.Type, true
		}
	}
	return nil, nil, false
}

// tree returns the definition as maps, lists and scalars.
func (def *Definition) tree(g *Generator) map[string]any {
	annotations := map[string]any{}
	if g.OmitToolVersion == nil || !*g.OmitToolVersion {
		annotations[VersionAnnotation] = g.ToolVersion
	}
	for k, v := range def.Annotations {
		annotations[k] = v
	}
	metadata := map[string]any{"name": def.Plural + "." + def.Group}
	if len(annotations) > 0 {
		metadata["annotations"] = annotations
	}
	if len(def.Labels) > 0 {
		metadata["labels"] = def.Labels
	}
	names := map[string]any{"kind": def.Kind, "listKind": def.List, "plural": def.Plural, "singular": def.Singular}
	if len(def.ShortNames) > 0 {
		names["shortNames"] = def.ShortNames
	}
	if len(def.Categories) > 0 {
		names["categories"] = def.Categories
	}
	var versions []any
	for _, v := range def.Versions {
		versions = append(versions, v.tree(g))
	}
	spec := map[string]any{"group": def.Group, "names": names, "scope": def.Scope, "versions": versions}
	if preserve := g.DeprecatedV1beta1CompatibilityPreserveUnknownFields; preserve != nil {
		spec["preserveUnknownFields"] = *preserve
	}
	return map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata, "spec": spec,
	}
}

// Tree returns the schema of a version as maps, lists and scalars, with the descriptions as long as the generator's options allow.
func (g Generator) Tree(v *Version) map[string]any {
	schema := v.Schema.tree()
	if g.MaxDescLen != nil {
		trimDescriptions(schema, *g.MaxDescLen)
	}
	return schema
}

func (v *Version) tree(g *Generator) map[string]any {
	schema := g.Tree(v)
	m := map[string]any{
		"name": v.Name, "served": v.Served, "storage": v.Storage,
		"schema": map[string]any{"openAPIV3Schema": schema},
	}
	if v.Deprecated {
		m["deprecated"] = true
	}
	if v.Warning != nil {
		m["deprecationWarning"] = *v.Warning
	}
	subresources := map[string]any{}
	if v.Status {
		subresources["status"] = map[string]any{}
	}
	if v.Scale != nil {
		subresources["scale"] = v.Scale.tree()
	}
	// With columns, an empty object is written where there are no subresources. It means the same.
	if len(subresources) > 0 || len(v.Columns) > 0 {
		m["subresources"] = subresources
	}
	var columns, fields []any
	for _, c := range v.Columns {
		columns = append(columns, c.tree())
	}
	for _, f := range v.Selectable {
		fields = append(fields, map[string]any{"jsonPath": f.JSONPath})
	}
	if len(columns) > 0 {
		m["additionalPrinterColumns"] = columns
	}
	if len(fields) > 0 {
		m["selectableFields"] = fields
	}
	return m
}
