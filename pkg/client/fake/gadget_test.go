package fake_test

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
)

var (
	exampleVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}
	gadgetKind     = exampleVersion.WithKind("Gadget")
	gizmoKind      = exampleVersion.WithKind("Gizmo")
)

func raw(json string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(json)} }

func props(typ string, fields map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	return apiextensionsv1.JSONSchemaProps{Type: typ, Properties: fields}
}

func definition(kind, singular, plural string, version apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.CustomResourceDefinition {
	version.Name, version.Served, version.Storage = "v1", true, true
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com",
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Kind: kind, ListKind: kind + "List", Singular: singular, Plural: plural,
			},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version},
		},
	}
}

// gadgetCRD defines a kind with all that the fake knows of: defaults, limits, required fields, lists of both kinds, fields
// that are kept unseen, and the subresources.
func gadgetCRD() *apiextensionsv1.CustomResourceDefinition {
	integer, text := props("integer", nil), props("string", nil)
	size := integer
	size.Default, size.Minimum, size.Maximum = raw("1"), ptr.To[float64](0), ptr.To[float64](10)
	color := text
	color.Enum = []apiextensionsv1.JSON{*raw(`"red"`), *raw(`"blue"`)}
	note := text
	note.Nullable = true
	count := integer
	count.Default = raw("1")
	part := props("object", map[string]apiextensionsv1.JSONSchemaProps{"name": text, "count": count})
	part.Required = []string{"name"}
	parts := props("array", nil)
	parts.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &part}
	parts.XListType, parts.XListMapKeys = ptr.To("map"), []string{"name"}
	tags := props("array", nil)
	tags.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}
	tags.XListType = ptr.To("set")
	words := props("array", nil)
	words.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &text}
	extra := props("object", nil)
	extra.XPreserveUnknownFields = ptr.To(true)
	port := apiextensionsv1.JSONSchemaProps{XIntOrString: true}
	spec := props("object", map[string]apiextensionsv1.JSONSchemaProps{
		"size": size, "color": color, "note": note, "parts": parts, "tags": tags, "words": words, "extra": extra, "port": port,
		"replicas": integer,
	})
	spec.Required = []string{"color"}
	status := props("object", map[string]apiextensionsv1.JSONSchemaProps{
		"ready": integer, "message": text, "replicas": integer, "selector": text,
	})
	root := props("object", map[string]apiextensionsv1.JSONSchemaProps{"spec": spec, "status": status})
	root.Required = []string{"spec"}
	return definition("Gadget", "gadget", "gadgets", apiextensionsv1.CustomResourceDefinitionVersion{
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
		Subresources: &apiextensionsv1.CustomResourceSubresources{
			Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
			Scale: &apiextensionsv1.CustomResourceSubresourceScale{
				SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: ptr.To(".status.selector"),
			},
		},
		SelectableFields: []apiextensionsv1.SelectableField{{JSONPath: ".spec.color"}},
	})
}

// gizmoCRD defines a kind without subresources, whose status is a field like any other.
func gizmoCRD() *apiextensionsv1.CustomResourceDefinition {
	root := props("object", map[string]apiextensionsv1.JSONSchemaProps{
		"spec":   props("object", map[string]apiextensionsv1.JSONSchemaProps{"size": props("integer", nil), "color": props("string", nil)}),
		"status": props("object", map[string]apiextensionsv1.JSONSchemaProps{"ready": props("integer", nil), "message": props("string", nil)}),
	})
	return definition("Gizmo", "gizmo", "gizmos", apiextensionsv1.CustomResourceDefinitionVersion{
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root},
	})
}
