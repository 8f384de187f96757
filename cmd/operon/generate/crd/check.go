package crd

import (
	"fmt"
	"go/token"
	"regexp"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// check reports what the API server would refuse about a property of a struct in a root package: defaults that do not validate, keys of
// lists that are not there. Its schema is flat. What belongs to a declared type is reported where it is declared.
func (b *builder) check(pkg *load.Package, p *Schema, f *marker.Field) {
	if !pkg.Root {
		return
	}
	pos, length := f.Raw.Pos(), len(f.Name)
	refused := func(pos token.Pos, length int, what, fix string) {
		b.in.Mistakes.Add(diag.Mistake{Pos: pkg.Fset().Position(pos), Len: length, What: what, Fix: fix, Refused: true})
	}
	at := func(names ...string) (token.Pos, int) {
		for _, name := range names {
			if places := f.Places[name]; len(places) > 0 {
				last := places[len(places)-1].Argument("")
				return last.Pos, last.Len
			}
		}
		return pos, max(length, 1)
	}
	// A default of null is none for the API server.
	if p.Default != nil && p.Default.V != nil {
		if what := refuses(p, generate.Plain(p.Default.V), "the default"); what != "" {
			pos, length := at("kubebuilder:default", "default")
			refused(pos, length, what, "")
		}
	}
	b.doubtSchema(p, originOfField(pkg, f), f.Markers)
	if what, fix, key := badList(p); what != "" {
		pos, length := at("listMapKey", "k8s:listMapKey", "listType", "k8s:listType")
		for _, name := range []string{"listMapKey", "k8s:listMapKey"} {
			if i := slices.Index(f.Markers[name], any(key)); i >= 0 {
				place := f.Places[name][i].Argument("")
				pos, length = place.Pos, place.Len
			}
		}
		refused(pos, length, what, fix)
	}
}

// doubtSchema reports what a field's or type's own markers say about its schema, which is flat, and nobody can have meant. The API server accepts it.
func (b *builder) doubtSchema(s *Schema, o *origin, markers marker.Values) {
	if what, names, item := unsatisfiable(s); what != "" {
		if at, ok := o.marked(names); ok {
			b.in.Doubt(o.mistake(at.Item("", item), what, ""))
		}
	}
	for _, of := range []struct {
		marker string
		schema *Schema
	}{{"kubebuilder:validation:Format", s}, {"kubebuilder:validation:items:Format", s.Items}} {
		for i, format := range markers[of.marker] {
			if of.schema == nil {
				break
			}
			if wrong := futileFormat(of.schema, format.(string)); wrong.what != "" {
				b.in.Doubt(o.mistake(o.places[of.marker][i].Argument(""), wrong.what, wrong.fix))
			}
		}
	}
}

// unsatisfiable tells why no value, or an item of an enumeration, can be right for a schema, and the markers that say so. The API server accepts such
// a schema.
func unsatisfiable(p *Schema) (what string, markers []string, item string) {
	validation := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, "kubebuilder:validation:"+name, "k8s:"+lowerFirst(name))
		}
		return all
	}
	if p.Minimum != nil && p.Maximum != nil && *p.Minimum > *p.Maximum {
		return fmt.Sprintf("no value is right: the minimum %v is above the maximum %v", *p.Minimum, *p.Maximum), validation("Minimum", "Maximum"), ""
	}
	if p.MultipleOf != nil && *p.MultipleOf <= 0 {
		return fmt.Sprintf("no value is right: MultipleOf is %v, and has to be more than 0", *p.MultipleOf), validation("MultipleOf"), ""
	}
	for _, bounds := range []struct {
		least, most *int64
		name        string
	}{{p.MinLength, p.MaxLength, "Length"}, {p.MinItems, p.MaxItems, "Items"}, {p.MinProperties, p.MaxProperties, "Properties"}} {
		if bounds.most != nil && *bounds.most < 0 {
			return fmt.Sprintf("no value is right: Max%s is %d", bounds.name, *bounds.most), validation("Max" + bounds.name), ""
		}
		if bounds.least != nil && bounds.most != nil && *bounds.least > *bounds.most {
			return fmt.Sprintf("no value is right: Min%[1]s is %[2]d, and Max%[1]s is %[3]d", bounds.name, *bounds.least, *bounds.most), validation("Min"+bounds.name, "Max"+bounds.name), ""
		}
	}
	if p.Type == "" || p.IntOrString {
		return "", nil, ""
	}
	for _, value := range p.Enum {
		if typ := jsonType(generate.Plain(value)); value != nil && typ != "value" && typ != p.Type && (p.Type != "number" || typ != "integer") {
			return fmt.Sprintf("%v in the enumeration is %s, and the field is %s", value, article(typ), article(p.Type)), validation("Enum"), fmt.Sprint(generate.Plain(value))
		}
	}
	return "", nil, ""
}

// badList tells what is wrong about how a list is merged, and which of its keys is at fault.
func badList(p *Schema) (what, fix, key string) {
	if p.Type != "array" || p.Items == nil {
		return "", "", ""
	}
	switch p.ListType {
	case "set":
		if p.Items.Type == "object" && p.Items.MapType != "atomic" || p.Items.Type == "array" && p.Items.ListType != "atomic" {
			return "the items of a set are compared as a whole, and these are not atomic", "use +listType=map, or make the item's type +structType=atomic", ""
		}
	case "map":
		if len(p.ListMapKeys) == 0 {
			return "a list with +listType=map has no key", "add +listMapKey=<field>", ""
		}
		if p.Items.Type != "object" {
			return "the items of a list with +listType=map are objects, and these are not", "use +listType=set or atomic", ""
		}
		for _, key := range p.ListMapKeys {
			property := p.Items.Properties[key]
			switch {
			case property == nil:
				return fmt.Sprintf("the items have no field %q to be the key", key), nearestField(key, p.Items), key
			case property.Type == "object" || property.Type == "array":
				return fmt.Sprintf("the key %q is %s, and keys are single values", key, article(property.Type)), "", key
			case property.Default == nil && !slices.Contains(p.Items.Required, key):
				return fmt.Sprintf("the key %q is optional, and keys are required or have a default", key), "drop omitempty and +optional from it, or add +default", key
			}
		}
	}
	return "", "", ""
}

func nearestField(name string, s *Schema) string {
	var names []string
	for n := range s.Properties {
		names = append(names, n)
	}
	slices.Sort(names)
	if near := marker.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return fmt.Sprintf("they have %q", names)
}

// refuses tells why a schema does not accept a value; empty where it does, or where that cannot be told.
func refuses(s *Schema, value any, what string) string {
	if value == nil {
		if s.Nullable {
			return ""
		}
		return what + " is null, and the field is not +nullable"
	}
	if s.IntOrString || s.Type == "" {
		return ""
	}
	if texts, ok := value.([]string); ok {
		list := make([]any, len(texts))
		for i, text := range texts {
			list[i] = text
		}
		value = list
	}
	if typ := jsonType(value); typ != s.Type && (s.Type != "number" || typ != "integer") {
		return fmt.Sprintf("%s is %s, and the field is %s", what, article(typ), article(s.Type))
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return fmt.Sprint(generate.Plain(e)) == fmt.Sprint(value) }) {
		return fmt.Sprintf("%s %v is not one of %v", what, value, s.Enum)
	}
	switch v := value.(type) {
	case string:
		return refusesText(s, v, what)
	case int:
		return refusesNumber(s, float64(v), what)
	case int64:
		return refusesNumber(s, float64(v), what)
	case float64:
		return refusesNumber(s, v, what)
	case []any:
		return refusesList(s, v, what)
	case map[string]any:
		return refusesObject(s, v, what)
	}
	return ""
}

func refusesText(s *Schema, v, what string) string {
	n := int64(len([]rune(v)))
	if s.MinLength != nil && n < *s.MinLength {
		return fmt.Sprintf("%s %q is shorter than %d", what, v, *s.MinLength)
	}
	if s.MaxLength != nil && n > *s.MaxLength {
		return fmt.Sprintf("%s %q is longer than %d", what, v, *s.MaxLength)
	}
	if s.Pattern != "" {
		if re, err := regexp.Compile(s.Pattern); err == nil && !re.MatchString(v) {
			return fmt.Sprintf("%s %q does not match %s", what, v, s.Pattern)
		}
	}
	return ""
}

func refusesNumber(s *Schema, v float64, what string) string {
	if s.Minimum != nil && (v < *s.Minimum || s.ExclusiveMinimum && v == *s.Minimum) {
		return fmt.Sprintf("%s %v is below the minimum %v", what, v, *s.Minimum)
	}
	if s.Maximum != nil && (v > *s.Maximum || s.ExclusiveMaximum && v == *s.Maximum) {
		return fmt.Sprintf("%s %v is above the maximum %v", what, v, *s.Maximum)
	}
	return ""
}

func refusesList(s *Schema, v []any, what string) string {
	n := int64(len(v))
	if s.MinItems != nil && n < *s.MinItems {
		return fmt.Sprintf("%s has %d items, at least %d are needed", what, n, *s.MinItems)
	}
	if s.MaxItems != nil && n > *s.MaxItems {
		return fmt.Sprintf("%s has %d items, at most %d are allowed", what, n, *s.MaxItems)
	}
	for i, item := range v {
		if s.Items == nil {
			break
		}
		if why := refuses(s.Items, item, fmt.Sprintf("item %d of %s", i, what)); why != "" {
			return why
		}
	}
	return ""
}

func refusesObject(s *Schema, v map[string]any, what string) string {
	for _, name := range s.Required {
		// That the property may have a default of its own makes no difference.
		if _, there := v[name]; !there {
			return fmt.Sprintf("%s lacks %q, which is required", what, name)
		}
	}
	for name, item := range v {
		p := s.Properties[name]
		if p == nil {
			p = s.AdditionalProperties
		}
		if p == nil {
			if s.PreserveUnknownFields == nil && !s.EmbeddedResource && len(s.Properties) > 0 {
				return fmt.Sprintf("%s has the field %q, which the schema does not: %s", what, name, nearestField(name, s))
			}
			continue
		}
		if why := refuses(p, item, fmt.Sprintf("%q in %s", name, what)); why != "" {
			return why
		}
	}
	return ""
}

func jsonType(value any) string {
	switch value.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case int, int64:
		return "integer"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "value"
}
