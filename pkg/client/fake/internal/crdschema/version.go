package crdschema

import (
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// Version is one served version of a CustomResourceDefinition. It does not change once it is in use.
type Version struct {
	Kind schema.GroupVersionKind
	// Stored is the version in which objects are stored.
	Stored     schema.GroupVersion
	Resource   string
	Singular   string
	Namespaced bool
	// Status says whether there is a status subresource.
	Status bool
	// Scale holds the paths of the scale subresource, or nil if there is none.
	Scale *apiextensionsv1.CustomResourceSubresourceScale
	// SelectableFields are the fields that field selectors may name, without the leading dot.
	SelectableFields []string
	// Rules returns which of the version's CEL rules obj breaks, which replaces old or, if that is nil, is new. It is set by
	// whoever has an interpreter for them; nil means that rules are not evaluated, or that there are none.
	Rules func(obj, old map[string]any) field.ErrorList

	structural *structuralschema.Structural
	validator  *validate.SchemaValidator
	// statusValidator checks the status by itself, where that is a subresource and has a schema.
	statusValidator *validate.SchemaValidator
	prune           bool
}

// Load returns the served versions of crd.
func Load(crd *apiextensionsv1.CustomResourceDefinition) ([]*Version, error) {
	stored := schema.GroupVersion{Group: crd.Spec.Group}
	for _, v := range crd.Spec.Versions {
		if v.Storage {
			stored.Version = v.Name
		}
	}
	if stored.Version == "" {
		return nil, fmt.Errorf("CustomResourceDefinition %s: no version is the storage version", crd.Name)
	}
	var versions []*Version
	for i := range crd.Spec.Versions {
		if !crd.Spec.Versions[i].Served {
			continue
		}
		v, err := load(crd, &crd.Spec.Versions[i])
		if err != nil {
			return nil, fmt.Errorf("CustomResourceDefinition %s, version %s: %w", crd.Name, crd.Spec.Versions[i].Name, err)
		}
		v.Stored = stored
		versions = append(versions, v)
	}
	return versions, nil
}

func load(crd *apiextensionsv1.CustomResourceDefinition, in *apiextensionsv1.CustomResourceDefinitionVersion) (*Version, error) {
	v := &Version{
		Kind:       schema.GroupVersionKind{Group: crd.Spec.Group, Version: in.Name, Kind: crd.Spec.Names.Kind},
		Resource:   crd.Spec.Names.Plural,
		Singular:   crd.Spec.Names.Singular,
		Namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped,
		prune:      !crd.Spec.PreserveUnknownFields,
	}
	if s := in.Subresources; s != nil {
		v.Status, v.Scale = s.Status != nil, s.Scale
	}
	for _, f := range in.SelectableFields {
		v.SelectableFields = append(v.SelectableFields, f.JSONPath[min(1, len(f.JSONPath)):])
	}
	if in.Schema == nil || in.Schema.OpenAPIV3Schema == nil {
		return v, nil
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(in.Schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	structural, err := structuralschema.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	if errs := structuralschema.ValidateStructural(nil, structural); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	v.structural = structural
	openapi := structural.ToKubeOpenAPI()
	eachNode(openapi, allowIntOrString)
	v.validator = validate.NewSchemaValidator(openapi, nil, "", strfmt.Default)
	if status, ok := openapi.Properties["status"]; ok && v.Status {
		v.statusValidator = validate.NewSchemaValidator(&status, nil, "", strfmt.Default)
	}
	return v, nil
}

// Normalize makes obj what the server would store of it: defaults filled in, unknown fields dropped. Nulls that stand for
// nothing are dropped too, unless obj is what an apply has merged: servers do that when they decode an object.
func (v *Version) Normalize(obj map[string]any, merged bool) {
	if v.structural == nil {
		return
	}
	if !merged {
		dropNulls(obj, v.structural)
	}
	fillIn(obj, v.structural)
	if v.prune {
		pruning.Prune(obj, v.structural, true)
	}
}
