package crd

import (
	"go/token"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// origin is the declaration that a schema is made of, or the marker that a rule is.
type origin struct {
	pkg    *load.Package
	name   string // of the type or field
	span   marker.Span
	places marker.Places
	// field is the declaration of a field, nil for others.
	field *marker.Field
}

func originOfType(t *marker.Type) *origin {
	name := t.Decl.Spec.Name
	return &origin{pkg: t.Package, name: t.Name, span: spanOf(name.Pos(), len(name.Name)), places: t.Places}
}

func originOfField(pkg *load.Package, f *marker.Field) *origin {
	return &origin{pkg: pkg, name: f.Name, span: spanOf(f.Raw.Pos(), max(len(f.Name), 1)), places: f.Places, field: f}
}

func ruleOrigin(pkg *load.Package, at marker.Span) *origin { return &origin{pkg: pkg, span: at} }

func spanOf(pos token.Pos, length int) marker.Span { return marker.Span{Pos: pos, Len: length} }

// mistake is one at a place in the origin's file.
func (o *origin) mistake(at marker.Span, what, fix string) diag.Mistake {
	return diag.Mistake{Pos: o.pkg.Fset().Position(at.Pos), Len: at.Len, What: what, Fix: fix}
}

// marked returns the place of the last marker among several that may say the same.
func (o *origin) marked(names []string) (marker.Span, bool) {
	for _, name := range names {
		if places := o.places[name]; len(places) > 0 {
			return places[len(places)-1], true
		}
	}
	return marker.Span{}, false
}
