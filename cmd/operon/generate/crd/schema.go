package crd

import "maps"

// Schema is a JSON schema in the dialect of CustomResourceDefinitions. The zero value accepts anything.
type Schema struct {
	Description, Title string
	Type, Format       string
	Default, Example   *Value
	Enum               []any

	Minimum, Maximum, MultipleOf       *float64
	ExclusiveMinimum, ExclusiveMaximum bool
	MinLength, MaxLength               *int64
	MinItems, MaxItems                 *int64
	MinProperties, MaxProperties       *int64
	Pattern                            string
	UniqueItems, Nullable              bool

	Items                *Schema
	Properties           map[string]*Schema
	AdditionalProperties *Schema
	Required             []string
	AllOf, AnyOf         []*Schema

	ExternalDocs          *ExternalDocs
	EmbeddedResource      bool
	IntOrString           bool
	PreserveUnknownFields *bool
	ListType, MapType     string
	ListMapKeys           []string
	Validations           []Rule

	// overrides tells that bounds here replace those of ref, or of the same property of base, and do not add to them.
	overrides bool
	// notEmpty tells that MinProperties only says that there is a value.
	notEmpty bool
	// ref is the type whose schema this one adds to; it is gone once the schema is flat.
	ref *typeName
	// base is what a struct embeds, which this schema adds to; it is gone once the schema is flat.
	base *Schema
	// from are the declarations that it is the schema of: the field before its type.
	from []*origin
}

// Value is a value in JSON's terms, such as a default.
type Value struct{ V any }

// Rule is a CEL validation of x-kubernetes-validations.
type Rule struct {
	// Rule is the expression that must be true.
	Rule string
	// Message is shown where it is not.
	Message string `marker:",optional"`
	// MessageExpression is an expression for the message.
	MessageExpression string `marker:"messageExpression,optional"`
	// Reason is a code for API callers.
	Reason string `marker:",optional"`
	// FieldPath is the path of the field at fault.
	FieldPath string `marker:",optional"`
	// OptionalOldSelf has the rule run on creation too.
	OptionalOldSelf *bool

	// at is the marker that it is from.
	at *origin
}

// ExternalDocs points to documentation.
type ExternalDocs struct {
	Description string `marker:",optional"`
	URL         string `marker:"url"`
}

// tree returns the schema as maps, lists and scalars.
func (s *Schema) tree() map[string]any {
	m := map[string]any{}
	put := func(key string, value any, set bool) {
		if set {
			m[key] = value
		}
	}
	put("description", s.Description, s.Description != "")
	put("title", s.Title, s.Title != "")
	put("type", s.Type, s.Type != "")
	put("format", s.Format, s.Format != "")
	putValue(m, "default", s.Default)
	putValue(m, "example", s.Example)
	put("enum", s.Enum, len(s.Enum) > 0)
	putNumber(m, "minimum", s.Minimum)
	putNumber(m, "maximum", s.Maximum)
	putNumber(m, "multipleOf", s.MultipleOf)
	put("exclusiveMinimum", true, s.ExclusiveMinimum)
	put("exclusiveMaximum", true, s.ExclusiveMaximum)
	putNumber(m, "minLength", s.MinLength)
	putNumber(m, "maxLength", s.MaxLength)
	putNumber(m, "minItems", s.MinItems)
	putNumber(m, "maxItems", s.MaxItems)
	putNumber(m, "minProperties", s.MinProperties)
	putNumber(m, "maxProperties", s.MaxProperties)
	put("pattern", s.Pattern, s.Pattern != "")
	put("uniqueItems", true, s.UniqueItems)
	put("nullable", true, s.Nullable)
	if s.Items != nil {
		m["items"] = s.Items.tree()
	}
	if len(s.Properties) > 0 {
		properties := make(map[string]any, len(s.Properties))
		for name, p := range s.Properties {
			properties[name] = p.tree()
		}
		m["properties"] = properties
	}
	if s.AdditionalProperties != nil {
		m["additionalProperties"] = s.AdditionalProperties.tree()
	}
	put("required", s.Required, len(s.Required) > 0)
	put("allOf", trees(s.AllOf), len(s.AllOf) > 0)
	put("anyOf", trees(s.AnyOf), len(s.AnyOf) > 0)
	if s.ExternalDocs != nil {
		docs := map[string]any{}
		if s.ExternalDocs.Description != "" {
			docs["description"] = s.ExternalDocs.Description
		}
		if s.ExternalDocs.URL != "" {
			docs["url"] = s.ExternalDocs.URL
		}
		m["externalDocs"] = docs
	}
	put("x-kubernetes-embedded-resource", true, s.EmbeddedResource)
	put("x-kubernetes-int-or-string", true, s.IntOrString)
	if s.PreserveUnknownFields != nil {
		m["x-kubernetes-preserve-unknown-fields"] = *s.PreserveUnknownFields
	}
	put("x-kubernetes-list-type", s.ListType, s.ListType != "")
	put("x-kubernetes-map-type", s.MapType, s.MapType != "")
	put("x-kubernetes-list-map-keys", s.ListMapKeys, len(s.ListMapKeys) > 0)
	if len(s.Validations) > 0 {
		rules := make([]any, len(s.Validations))
		for i, r := range s.Validations {
			rules[i] = r.tree()
		}
		m["x-kubernetes-validations"] = rules
	}
	return m
}

func putValue(m map[string]any, key string, v *Value) {
	if v != nil {
		m[key] = v.V
	}
}

func putNumber[T int64 | float64](m map[string]any, key string, n *T) {
	if n != nil {
		m[key] = *n
	}
}

func trees(list []*Schema) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s.tree()
	}
	return out
}

func (r Rule) tree() map[string]any {
	m := map[string]any{"rule": r.Rule}
	for key, text := range map[string]string{
		"message": r.Message, "messageExpression": r.MessageExpression, "reason": r.Reason, "fieldPath": r.FieldPath,
	} {
		if text != "" {
			m[key] = text
		}
	}
	if r.OptionalOldSelf != nil {
		m["optionalOldSelf"] = *r.OptionalOldSelf
	}
	return m
}

// clone copies the schema, and of what it points to the properties' map.
func (s *Schema) clone() *Schema {
	c := *s
	c.Properties = maps.Clone(s.Properties)
	return &c
}
