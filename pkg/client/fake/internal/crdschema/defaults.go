package crdschema

import (
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"
)

// The defaulting package of apiextensions-apiserver would do what this file does, but it links k8s.io/apiserver. The rules
// are those of "Defaulting and Nullable" in the documentation of CustomResourceDefinitions.

// mayNotBeNull says that a null in the place of s stands for nothing.
func mayNotBeNull(s *structuralschema.Structural) bool { return s != nil && !s.Nullable }

// below returns the schema of a field of s.
func below(s *structuralschema.Structural, field string) *structuralschema.Structural {
	if s == nil {
		return nil
	}
	if p, ok := s.Properties[field]; ok {
		return &p
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural
	}
	return nil
}

// dropNulls removes the nulls that are neither allowed nor replaced by a default.
func dropNulls(value any, s *structuralschema.Structural) {
	switch value := value.(type) {
	case map[string]any:
		for key, v := range value {
			field := below(s, key)
			if v == nil && mayNotBeNull(field) && field.Default.Object == nil {
				delete(value, key)
				continue
			}
			dropNulls(v, field)
		}
	case []any:
		if s == nil {
			return
		}
		for _, v := range value {
			dropNulls(v, s.Items)
		}
	}
}

// fillIn sets what is missing, or null where it may not be, to its default.
func fillIn(value any, s *structuralschema.Structural) {
	if s == nil {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for key, field := range s.Properties {
			if v, ok := value[key]; field.Default.Object != nil && (!ok || v == nil && !field.Nullable) {
				value[key] = runtime.DeepCopyJSONValue(field.Default.Object)
			}
		}
		for key, v := range value {
			field := below(s, key)
			if v == nil && mayNotBeNull(field) && field.Default.Object != nil {
				value[key] = runtime.DeepCopyJSONValue(field.Default.Object)
			}
			fillIn(value[key], field)
		}
	case []any:
		for i, v := range value {
			if v == nil && mayNotBeNull(s.Items) && s.Items.Default.Object != nil {
				value[i] = runtime.DeepCopyJSONValue(s.Items.Default.Object)
			}
			fillIn(value[i], s.Items)
		}
	}
}
