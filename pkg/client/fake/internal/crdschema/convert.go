package crdschema

import (
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// TypeConverter returns a converter for the kinds of versions.
func TypeConverter(versions []*Version) (managedfields.TypeConverter, error) {
	models := map[string]*spec.Schema{}
	for _, v := range versions {
		root := v.structural.ToKubeOpenAPI()
		if root == nil {
			root = &spec.Schema{}
		}
		if v.structural == nil || !v.prune {
			root.AddExtension("x-kubernetes-preserve-unknown-fields", true)
		}
		eachNode(root, untypedIntOrString)
		if root.Properties == nil {
			root.Properties = map[string]spec.Schema{}
		}
		root.Properties["apiVersion"] = *spec.StringProperty()
		root.Properties["kind"] = *spec.StringProperty()
		root.Properties["metadata"] = *objectMeta()
		root.AddExtension("x-kubernetes-group-version-kind", []any{map[string]any{
			"group": v.Kind.Group, "version": v.Kind.Version, "kind": v.Kind.Kind,
		}})
		models[v.Kind.String()] = root
	}
	return managedfields.NewTypeConverter(models, false)
}

// objectMeta describes the parts of metadata that are not atomic, as the published OpenAPI of Kubernetes does.
func objectMeta() *spec.Schema {
	text := spec.StringProperty()
	owner := &spec.Schema{SchemaProps: spec.SchemaProps{
		Type: spec.StringOrArray{"object"},
		Properties: map[string]spec.Schema{
			"apiVersion": *text, "kind": *text, "name": *text, "uid": *text,
			"controller": *spec.BooleanProperty(), "blockOwnerDeletion": *spec.BooleanProperty(),
		},
	}}
	owner.AddExtension("x-kubernetes-map-type", "atomic")
	owners := spec.ArrayProperty(owner)
	owners.AddExtension("x-kubernetes-list-type", "map")
	owners.AddExtension("x-kubernetes-list-map-keys", []any{"uid"})
	finalizers := spec.ArrayProperty(text)
	finalizers.AddExtension("x-kubernetes-list-type", "set")
	entry := &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{"object"}}}
	return &spec.Schema{SchemaProps: spec.SchemaProps{
		Type: spec.StringOrArray{"object"},
		Properties: map[string]spec.Schema{
			"managedFields": *spec.ArrayProperty(entry),
			"name":          *text, "generateName": *text, "namespace": *text, "selfLink": *text, "uid": *text, "resourceVersion": *text,
			"generation": *spec.Int64Property(), "creationTimestamp": *text, "deletionTimestamp": *text,
			"deletionGracePeriodSeconds": *spec.Int64Property(),
			"labels":                     *spec.MapProperty(text), "annotations": *spec.MapProperty(text),
			"finalizers": *finalizers, "ownerReferences": *owners,
		},
	}}
}

// eachNode calls f with s and every schema below it.
func eachNode(s *spec.Schema, f func(*spec.Schema)) {
	if s == nil {
		return
	}
	f(s)
	for name, p := range s.Properties {
		eachNode(&p, f)
		s.Properties[name] = p
	}
	if s.AdditionalProperties != nil {
		eachNode(s.AdditionalProperties.Schema, f)
	}
	if s.Items != nil {
		eachNode(s.Items.Schema, f)
	}
	for _, nested := range [][]spec.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range nested {
			eachNode(&nested[i], f)
		}
	}
	eachNode(s.Not, f)
}

func isIntOrString(s *spec.Schema) bool {
	is, _ := s.Extensions.GetBool("x-kubernetes-int-or-string")
	return is
}

// allowIntOrString makes validation accept both types where the schema names the pair by its extension alone.
func allowIntOrString(s *spec.Schema) {
	if isIntOrString(s) {
		s.Type = spec.StringOrArray{"integer", "string"}
	}
}

// untypedIntOrString makes merging see such a field as a scalar of any type.
func untypedIntOrString(s *spec.Schema) {
	if isIntOrString(s) {
		s.Type = nil
		s.AnyOf, s.AllOf, s.OneOf = nil, nil, nil
		s.Format = "int-or-string"
		s.Type = spec.StringOrArray{"string"}
	}
}
