package crd

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/operon-dev/operon/cmd/operon/generate"
)

// plain tells definitions that the API server accepts for sure, but for rules that they may have. It looks for the few things that most
// definitions are made of, and leaves the judgement of all else to the API server's own code, which takes longer to start than to generate a
// project. So it must never be wrong about what is plain, and may be about what is not.
type plain struct {
	patterns map[string]bool
	// rules tells that there are some.
	rules bool
}

func (def *Definition) plain() (ok, rules bool) {
	names := append([]string{def.Plural, def.Singular, strings.ToLower(def.Kind), strings.ToLower(def.List)}, def.ShortNames...)
	names = append(names, def.Categories...)
	for _, v := range def.Versions {
		names = append(names, v.Name)
	}
	if slices.ContainsFunc(names, func(name string) bool { return len(name) > 63 || !label.MatchString(name) }) || def.Kind == def.List {
		return false, false
	}
	if len(def.Group) > 200 || !domain.MatchString(def.Group) {
		return false, false
	}
	if def.Scope != "Cluster" && def.Scope != "Namespaced" || !plainMetadata(def.Annotations, def.Labels) {
		return false, false
	}
	p := &plain{patterns: map[string]bool{}}
	for i, v := range def.Versions {
		if slices.ContainsFunc(def.Versions[:i], func(other *Version) bool { return other.Name == v.Name }) || !p.version(v) {
			return false, false
		}
	}
	return true, p.rules
}

func plainMetadata(annotations, labels map[string]string) bool {
	for key, value := range annotations {
		if !metadataKey.MatchString(key) || len(key) > 63 || len(value) > 10_000 {
			return false
		}
	}
	for key, value := range labels {
		if !metadataKey.MatchString(key) || len(key) > 63 || len(value) > 63 || !labelValue.MatchString(value) {
			return false
		}
	}
	return true
}

var (
	metadataKey = regexp.MustCompile(`^([a-z0-9]+([-.][a-z0-9]+)*/)?[A-Za-z0-9]+([-_.]?[A-Za-z0-9]+)*$`)
	labelValue  = regexp.MustCompile(`^([A-Za-z0-9]+([-_.]?[A-Za-z0-9]+)*)?$`)

	label  = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
	domain = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$`)

	warning = regexp.MustCompile(`^[ -~]{1,256}$`)
	member  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

	columnTypes   = []string{"integer", "number", "string", "boolean", "date"}
	columnFormats = []string{"", "int32", "int64", "float", "double", "byte", "date", "date-time", "password"}
	jsonTypes     = []string{"string", "integer", "number", "boolean", "array", "object"}
)

func (p *plain) version(v *Version) bool {
	if v.Warning != nil && !(v.Deprecated && warning.MatchString(*v.Warning)) || !plainSelectable(v) {
		return false
	}
	for _, c := range v.Columns {
		if c.Name == "" || !slices.Contains(columnTypes, c.Type) || !slices.Contains(columnFormats, c.Format) || !strings.HasPrefix(c.JSONPath, ".") {
			return false
		}
	}
	if s := v.Scale; s != nil {
		if !strings.HasPrefix(s.SpecPath, ".spec.") || !strings.HasPrefix(s.StatusPath, ".status.") {
			return false
		}
		if path := s.SelectorPath; path != nil && !strings.HasPrefix(*path, ".spec.") && !strings.HasPrefix(*path, ".status.") {
			return false
		}
	}
	root := *v.Schema
	for _, name := range []string{"kind", "apiVersion"} {
		if property := root.Properties[name]; property != nil && property.Type != "string" {
			return false
		}
	}
	if metadata := root.Properties["metadata"]; metadata != nil && !reflect.DeepEqual(*metadata, Schema{Type: "object"}) {
		return false
	}
	// The root of a schema has restrictions of its own: nothing but an object with properties is free of them.
	p.rules = p.rules || len(root.Validations) > 0
	root.Description, root.Properties, root.Required, root.Validations, root.from = "", nil, nil, nil, nil
	return reflect.DeepEqual(root, Schema{Type: "object"}) && p.properties(v.Schema)
}

// plainSelectable tells fields for selectors that lead to values through nothing but properties.
func plainSelectable(v *Version) bool {
	seen := map[string]bool{"": true}
	for _, f := range v.Selectable {
		path := f.JSONPath
		names, at := strings.Split(path, "."), v.Schema
		if seen[path] || len(names) < 2 || names[0] != "" || names[1] == "metadata" {
			return false
		}
		seen[path] = true
		for _, name := range names[1:] {
			if at = at.Properties[name]; at == nil || !member.MatchString(name) {
				return false
			}
		}
		if at.Type != "string" && at.Type != "boolean" && at.Type != "integer" {
			return false
		}
	}
	return len(v.Selectable) <= 8
}

func (p *plain) properties(s *Schema) bool {
	for _, property := range s.Properties {
		if !p.schema(property) {
			return false
		}
	}
	return true
}

func (p *plain) schema(s *Schema) bool {
	preserves := s.PreserveUnknownFields != nil
	switch {
	case s.IntOrString:
		if s.Type != "" || preserves || !p.intOrString(s) {
			return false
		}
	case len(s.AnyOf) > 0:
		return false
	case s.Type == "":
		if !preserves || !*s.PreserveUnknownFields {
			return false
		}
	case !slices.Contains(jsonTypes, s.Type):
		return false
	}
	if s.EmbeddedResource && (s.Type != "object" || !preserves || len(s.Properties) > 0 || s.AdditionalProperties != nil) {
		return false
	}
	p.rules = p.rules || len(s.Validations) > 0
	if s.UniqueItems || s.MultipleOf != nil && *s.MultipleOf <= 0 {
		return false
	}
	if s.Default != nil && s.Default.V != nil && !p.accepts(s, s.Default.V) {
		return false
	}
	if s.Pattern != "" && !p.pattern(s.Pattern) {
		return false
	}
	for _, part := range s.AllOf {
		if part.Default != nil || len(part.Validations) > 0 || part.Pattern != "" && !p.pattern(part.Pattern) {
			return false
		}
	}
	return p.list(s) && p.object(s) && p.properties(s)
}

// intOrString tells the one form of alternatives that such schemas have.
func (p *plain) intOrString(s *Schema) bool {
	if s.MapType != "" || s.ListType != "" || s.Items != nil || len(s.Properties) > 0 {
		return false
	}
	return len(s.AnyOf) == 0 || reflect.DeepEqual(trees(s.AnyOf), []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}})
}

// accepts tells a value that the schema accepts for sure, and that pruning leaves as it is. What the checks of this package refuse has been reported.
func (p *plain) accepts(s *Schema, value any) bool {
	if s.IntOrString || len(s.AllOf) > 0 || s.Type == "string" && !formatted(s.Format, value) || s.MinProperties != nil || s.MaxProperties != nil {
		return false
	}
	switch v := generate.Plain(value).(type) {
	case map[string]any:
		for name, item := range v {
			property := s.Properties[name]
			if property == nil {
				property = s.AdditionalProperties
			}
			if property == nil || !p.accepts(property, item) {
				return false
			}
		}
		return s.Type == "object" && refuses(s, v, "") == ""
	case []any:
		if s.Items == nil || s.ListType == "set" && len(v) > 0 || s.ListType == "map" && !distinct(v, s.ListMapKeys) {
			return false
		}
		return s.Type == "array" && refuses(s, v, "") == "" && !slices.ContainsFunc(v, func(item any) bool { return !p.accepts(s.Items, item) })
	case []string:
		return s.Type == "array" && s.ListType != "set" && s.Items != nil && s.Items.Type == "string" && s.Items.Format == "" && len(s.Items.AllOf) == 0 && refuses(s, v, "") == ""
	case nil:
		return false
	}
	return s.Type != "" && s.Type != "object" && s.Type != "array" && refuses(s, generate.Plain(value), "") == ""
}

// formatted tells a text that has a format for sure: the one in which times are written most.
func formatted(format string, value any) bool {
	if format != "date-time" {
		return format == ""
	}
	text, ok := value.(string)
	_, err := time.Parse("2006-01-02T15:04:05Z", text)
	return ok && err == nil
}

// distinct tells elements of which no two have the same keys, all of them texts.
func distinct(elements []any, keys []string) bool {
	seen := map[string]bool{}
	for _, element := range elements {
		fields, _ := generate.Plain(element).(map[string]any)
		var id strings.Builder
		for _, key := range keys {
			text, ok := fields[key].(string)
			if !ok {
				return false
			}
			id.WriteString(text + "\x00")
		}
		if seen[id.String()] {
			return false
		}
		seen[id.String()] = true
	}
	return true
}

func (p *plain) pattern(text string) bool {
	ok, known := p.patterns[text]
	if !known {
		_, err := regexp.Compile(text)
		ok = err == nil
		p.patterns[text] = ok
	}
	return ok
}

func (p *plain) list(s *Schema) bool {
	if s.Type != "array" {
		return s.Items == nil && s.ListType == "" && len(s.ListMapKeys) == 0
	}
	if s.Items == nil || !p.schema(s.Items) {
		return false
	}
	switch s.ListType {
	case "", "atomic":
		return len(s.ListMapKeys) == 0
	}
	if s.Items.Nullable || slices.ContainsFunc(s.ListMapKeys, func(key string) bool {
		property := s.Items.Properties[key]
		return property == nil || property.Nullable || property.Type == ""
	}) {
		return false
	}
	keys := slices.Sorted(slices.Values(s.ListMapKeys))
	what, _, _ := badList(s)
	return what == "" && len(slices.Compact(keys)) == len(s.ListMapKeys)
}

func (p *plain) object(s *Schema) bool {
	if s.AdditionalProperties != nil && (len(s.Properties) > 0 || s.Type != "object" || !p.schema(s.AdditionalProperties)) {
		return false
	}
	switch s.MapType {
	case "":
		return true
	case "atomic", "granular":
		return s.Type == "object"
	}
	return false
}
