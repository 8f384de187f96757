package celrules

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/operon-dev/operon/pkg/client/fake"
)

var _ fake.RuleCompiler = Compile

// Compile returns the rules of a version of crd, or nil if it has none. The error is what an API server says to a definition
// whose rules it does not take: one that does not compile, or that may cost more than is allowed.
func Compile(crd *apiextensionsv1.CustomResourceDefinition, version string) (fake.Rules, error) {
	structural, err := structuralOf(crd, version)
	if err != nil || structural == nil {
		return nil, err
	}
	validator := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	if validator == nil {
		return nil, nil
	}
	if err := judge(crd); err != nil {
		return nil, err
	}
	return func(object, old map[string]any) field.ErrorList {
		// Not even a canceled request leaves a rule unasked; what rules may cost bounds the time.
		ctx := context.Background()
		if old == nil {
			errs, _ := validator.Validate(ctx, nil, structural, object, nil, celconfig.RuntimeCELCostBudget)
			return errs
		}
		correlated := common.NewCorrelatedObject(object, old, &model.Structural{Structural: structural})
		errs, _ := validator.Validate(ctx, nil, structural, object, old, celconfig.RuntimeCELCostBudget, cel.WithRatcheting(correlated))
		return errs
	}, nil
}

// structuralOf returns the schema of a version in the form that rules are compiled from, or nil if it has none.
func structuralOf(crd *apiextensionsv1.CustomResourceDefinition, version string) (*structuralschema.Structural, error) {
	at := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == version })
	if at < 0 {
		return nil, field.NotFound(field.NewPath("spec", "versions"), version)
	}
	schema := crd.Spec.Versions[at].Schema
	if schema == nil || schema.OpenAPIV3Schema == nil {
		return nil, nil
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema.OpenAPIV3Schema, &internal, nil); err != nil {
		return nil, err
	}
	return structuralschema.NewStructural(&internal)
}

// judge returns what a server says about the rules of a definition.
func judge(crd *apiextensionsv1.CustomResourceDefinition) error {
	crd = crd.DeepCopy()
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, &internal, nil); err != nil {
		return err
	}
	all := validation.ValidateCustomResourceDefinition(context.Background(), &internal)
	return slices.DeleteFunc(all, func(err *field.Error) bool { return !isAboutRules(err) }).ToAggregate()
}

// isAboutRules tells the errors about rules from the others: one of them, or all in one, in a definition.
func isAboutRules(err *field.Error) bool {
	const rules = "x-kubernetes-validations"
	return strings.Contains(err.Field, rules) || strings.Contains(err.Detail, rules)
}
