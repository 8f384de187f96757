// Package gizmo is the kind that tests of webhooks are about. It has two
// versions: V1 gives its size as text, and V2, the hub, as numbers.
//
// The definition lets both versions have fields that the Go types do not know.
package gizmo

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/conversion"
	"github.com/operon-dev/operon/pkg/webhook/admission"
)

// Group is the API group.
const Group = "gizmos.operon.test"

// GroupKind is the kind.
var GroupKind = schema.GroupKind{Group: Group, Kind: "Gizmo"}

// V1 is the older version.
type V1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              V1Spec `json:"spec,omitempty"`
}

// V1Spec is the specification in the older version.
type V1Spec struct {
	// Size is "3x4".
	Size   string `json:"size,omitempty"`
	Colour string `json:"colour,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (g *V1) DeepCopyObject() runtime.Object {
	c := *g
	g.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// ConvertTo implements conversion.Convertible.
func (g *V1) ConvertTo(dst conversion.Hub) error {
	hub := dst.(*V2)
	hub.ObjectMeta = g.ObjectMeta
	hub.Spec.Colour = g.Spec.Colour
	hub.Spec.Width, hub.Spec.Height = 0, 0
	if g.Spec.Size == "" {
		return nil
	}
	if _, err := fmt.Sscanf(g.Spec.Size, "%dx%d", &hub.Spec.Width, &hub.Spec.Height); err != nil {
		return fmt.Errorf("size %q: %w", g.Spec.Size, err)
	}
	return nil
}

// ConvertFrom implements conversion.Convertible.
func (g *V1) ConvertFrom(src conversion.Hub) error {
	hub := src.(*V2)
	g.ObjectMeta = hub.ObjectMeta
	g.Spec = V1Spec{Colour: hub.Spec.Colour}
	if hub.Spec.Width != 0 || hub.Spec.Height != 0 {
		g.Spec.Size = fmt.Sprintf("%dx%d", hub.Spec.Width, hub.Spec.Height)
	}
	return nil
}

// V2 is the newer version, and the hub.
type V2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              V2Spec `json:"spec,omitempty"`
}

// V2Spec is the specification in the newer version.
type V2Spec struct {
	Width  int    `json:"width,omitempty"`
	Height int    `json:"height,omitempty"`
	Colour string `json:"colour,omitempty"`
}

// Hub implements conversion.Hub.
func (*V2) Hub() {}

// DeepCopyObject implements runtime.Object.
func (g *V2) DeepCopyObject() runtime.Object {
	c := *g
	g.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	return &c
}

// AddToScheme adds both versions to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	for version, obj := range map[string]runtime.Object{"v1": &V1{}, "v2": &V2{}} {
		gv := schema.GroupVersion{Group: Group, Version: version}
		s.AddKnownTypeWithName(gv.WithKind(GroupKind.Kind), obj)
		metav1.AddToGroupVersion(s, gv)
	}
	return nil
}

// Defaulter makes gizmos grey that have no colour.
type Defaulter struct{}

// Default implements admission.Defaulter.
func (Defaulter) Default(_ context.Context, g *V2) error {
	if g.Spec.Colour == "" {
		g.Spec.Colour = "grey"
	}
	return nil
}

// Validator forbids flat gizmos and those that are changed to be smaller, warns of pink ones, and forbids
// the deletion of golden ones.
type Validator struct{}

// ValidateCreate implements admission.Validator.
func (Validator) ValidateCreate(_ context.Context, g *V2) (admission.Warnings, error) {
	if (g.Spec.Width == 0) != (g.Spec.Height == 0) {
		return nil, errors.New("a flat gizmo")
	}
	if g.Spec.Colour == "pink" {
		return admission.Warnings{"pink fades"}, nil
	}
	return nil, nil
}

// ValidateUpdate implements admission.Validator.
func (v Validator) ValidateUpdate(ctx context.Context, old, g *V2) (admission.Warnings, error) {
	if g.Spec.Width*g.Spec.Height < old.Spec.Width*old.Spec.Height {
		return nil, errors.New("gizmos do not shrink")
	}
	return v.ValidateCreate(ctx, g)
}

// ValidateDelete implements admission.Validator.
func (Validator) ValidateDelete(_ context.Context, g *V2) (admission.Warnings, error) {
	if g.Spec.Colour == "gold" {
		return nil, errors.New("gold is kept")
	}
	return nil, nil
}

// Definition returns the definition of the kind. Its objects are converted at the URL, or not at all if that is empty.
func Definition(convert string, bundle []byte) *apiextensionsv1.CustomResourceDefinition {
	version := func(name string) apiextensionsv1.CustomResourceDefinitionVersion {
		open := true
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: name == "v2",
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Type: "object", XPreserveUnknownFields: &open,
			}},
		}
	}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gizmos." + Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{
				Plural: "gizmos", Singular: "gizmo", Kind: GroupKind.Kind, ListKind: "GizmoList",
			},
			Scope:    apiextensionsv1.NamespaceScoped,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1"), version("v2")},
		},
	}
	if convert != "" {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook: &apiextensionsv1.WebhookConversion{
				ClientConfig:             &apiextensionsv1.WebhookClientConfig{URL: &convert, CABundle: bundle},
				ConversionReviewVersions: []string{"v1"},
			},
		}
	}
	return crd
}
