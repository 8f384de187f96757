package admit

import (
	"strings"

	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/operon-dev/operon/cmd/operon/generate"
)

// hidesRules tells a refusal for which the API server does not get as far as the rules.
func hidesRules(r generate.Refusal) bool {
	return strings.Contains(r.Path, "openAPIV3Schema") && (!isRule(r) || !strings.Contains(r.Detail, "compilation failed") && !strings.Contains(r.Detail, "cost"))
}

func isRule(r generate.Refusal) bool { return strings.Contains(r.Path, ".x-kubernetes-validations[") }

func undefined(r generate.Refusal) bool { return strings.Contains(r.Detail, "undefined field") }

// mendAll leaves of the schemas what rules are compiled against. It tells whether there are some without a type, which are open to any value then.
func mendAll(definition *v1.CustomResourceDefinition) (open bool) {
	for _, version := range definition.Spec.Versions {
		if version.Schema != nil {
			open = mend(version.Schema.OpenAPIV3Schema) || open
		}
	}
	return open
}

func mend(s *v1.JSONSchemaProps) (open bool) {
	if s == nil {
		return false
	}
	s.Default, s.Example, s.Enum, s.Pattern, s.UniqueItems, s.Nullable = nil, nil, nil, "", false, false
	s.XListType, s.XMapType, s.XListMapKeys = nil, nil, nil
	if s.Type == "array" && (s.Items == nil || s.Items.Schema == nil) {
		s.Items = &v1.JSONSchemaPropsOrArray{Schema: &v1.JSONSchemaProps{}}
	}
	if s.Type == "" && !s.XIntOrString {
		s.XPreserveUnknownFields, open = new(true), true
	}
	if len(s.Properties) > 0 {
		s.AdditionalProperties = nil
	}
	for i := range s.XValidations {
		rule := &s.XValidations[i]
		rule.Message, rule.Reason, rule.FieldPath = "text", nil, ""
		if strings.TrimSpace(rule.Rule) == "" {
			rule.Rule = "true"
		}
	}
	if s.Items != nil {
		open = mend(s.Items.Schema) || open
	}
	if s.AdditionalProperties != nil {
		open = mend(s.AdditionalProperties.Schema) || open
	}
	for name, property := range s.Properties {
		open = mend(&property) || open
		s.Properties[name] = property
	}
	return open
}
