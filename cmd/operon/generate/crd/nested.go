package crd

import (
	"go/ast"

	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

const nestedDefault = "operon:default:nested"

// nestDefault gives a property that is an object the defaults of its fields for a default, where a marker or the generator's option asks for it.
func (b *builder) nestDefault(pkg *load.Package, p *Schema, f *marker.Field) {
	if places := f.Places[nestedDefault]; len(places) > 0 {
		at := places[0]
		switch {
		case p.Type != "object" || p.AdditionalProperties != nil:
			b.mistake(pkg, at.Pos, at.Len, "", "+%s is for structs, and this is %s", nestedDefault, describeType(p))
		case p.Default != nil:
			b.mistake(pkg, at.Pos, at.Len, "keep one of the two", "+%s stands beside another default", nestedDefault)
		default:
			value, missing := p.nested()
			if missing != "" {
				b.mistake(pkg, at.Pos, at.Len, "give it a default, or make it optional", "the field %q is required and has no default", missing)
				return
			}
			p.Default = &Value{value}
		}
		return
	}
	if b.opts.NestedDefaults == nil || !*b.opts.NestedDefaults || p.Type != "object" || p.Default != nil {
		return
	}
	// That a pointer is nil means something.
	if _, pointer := f.Raw.Type.(*ast.StarExpr); pointer {
		return
	}
	if value, missing := p.nested(); len(value) > 0 && missing == "" {
		p.Default = &Value{value}
	}
}

// nested is the object of the defaults of a schema's properties, and of those that its required properties come to; missing is a required property
// that has none.
func (s *Schema) nested() (value map[string]any, missing string) {
	value = map[string]any{}
	for name, property := range s.Properties {
		if property.Default != nil && property.Default.V != nil {
			value[name] = property.Default.V
		}
	}
	for _, name := range s.Required {
		property := s.Properties[name]
		if _, there := value[name]; there || property == nil {
			continue
		}
		inner, lacks := property.nested()
		if property.Type != "object" || lacks != "" || len(inner) == 0 {
			return value, name
		}
		value[name] = inner
	}
	return value, ""
}
