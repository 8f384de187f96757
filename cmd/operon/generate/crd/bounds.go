package crd

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// bounds says which bounds are missing that make a rule expensive: those of the lists and maps that the rule is run for each item of, and those of
// the lists, maps and texts that it looks at.
func (p place) bounds(rule Rule) string {
	var m missing
	for i, node := range p.nodes[:len(p.nodes)-1] {
		// A step into properties multiplies nothing.
		if node.Type == "array" || node.AdditionalProperties != nil {
			m.add(node, "", p.nameOf(i))
		}
	}
	m.text = rule.Rule + "\n" + rule.MessageExpression
	m.walk(p.node(), "", "self", "self")
	list := slices.Compact(m.list)
	if len(list) == 0 {
		return "make the expression simpler, or lower the bounds of what it looks at"
	}
	const enough = 5
	if len(list) > enough {
		list = append(list[:enough], "others")
	}
	return "add " + enumerate(list)
}

// missing gathers the bounds that are missing in what an expression looks at.
type missing struct {
	text string
	list []string
}

// walk looks at a schema and those within that the text mentions. It is the items or values of the one called name, or that itself.
func (m *missing) walk(s *Schema, of, path, name string) {
	if s == nil {
		return
	}
	if o := firstOf(s.from); o != nil && of == "" {
		name = fmt.Sprintf("%s (%s)", o.name, path)
	}
	m.add(s, of, name)
	m.walk(s.Items, "items", path, name)
	m.walk(s.AdditionalProperties, "values", path, name)
	for _, property := range slices.Sorted(maps.Keys(s.Properties)) {
		if regexp.MustCompile(`\b` + regexp.QuoteMeta(property) + `\b`).MatchString(m.text) {
			m.walk(s.Properties[property], "", path+"."+property, path+"."+property)
		}
	}
}

func (m *missing) add(s *Schema, of, name string) {
	bound, declared := s.unbounded(), firstOf(s.from)
	switch {
	case bound == "":
	case of == "":
		m.list = append(m.list, fmt.Sprintf("+kubebuilder:validation:%s to %s", bound, name))
	case declared != nil:
		m.list = append(m.list, fmt.Sprintf("+kubebuilder:validation:%s to the type %s", bound, declared.name))
	case of == "items":
		m.list = append(m.list, fmt.Sprintf("+kubebuilder:validation:items:%s to %s", bound, name))
	default:
		m.list = append(m.list, fmt.Sprintf("a type with +kubebuilder:validation:%s for the values of %s", bound, name))
	}
}

// nameOf names the schema that a path goes through.
func (p place) nameOf(i int) string {
	if o := firstOf(p.nodes[i].from); o != nil {
		return o.name
	}
	for ; i > 0; i-- {
		if p.names[i] != "" {
			return p.names[i]
		}
	}
	return "the list or map"
}

func firstOf(from []*origin) *origin {
	if len(from) == 0 {
		return nil
	}
	return from[0]
}

// unbounded is the bound that a schema lacks, "" for none.
func (s *Schema) unbounded() string {
	switch {
	case s.Type == "array" && s.MaxItems == nil && !s.within(func(a *Schema) bool { return a.MaxItems != nil }):
		return "MaxItems"
	case s.Type == "object" && s.AdditionalProperties != nil && s.MaxProperties == nil:
		return "MaxProperties"
	case s.Type == "string" && s.MaxLength == nil && len(s.Enum) == 0 && !shortFormat(s.Format) && !s.within(func(a *Schema) bool { return a.MaxLength != nil }):
		return "MaxLength"
	}
	return ""
}

func (s *Schema) within(bound func(*Schema) bool) bool { return slices.ContainsFunc(s.AllOf, bound) }

// shortFormat tells formats whose values have a length of their own for the API server.
func shortFormat(format string) bool {
	return format == "date" || format == "date-time" || format == "duration"
}

func enumerate(list []string) string {
	if len(list) == 1 {
		return list[0]
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " and " + list[last]
}
