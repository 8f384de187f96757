package crd

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// futile is what the API server takes and nobody can have meant: an argument of a marker that leads nowhere.
type futile struct {
	// argument is empty where the whole marker is futile.
	argument string
	astray
}

// doubtKinds records markers of kinds that lead nowhere, and those on types that are no kinds.
func (b *builder) doubtKinds(all []*Definition) {
	if b.in.Doubts == nil {
		return
	}
	for _, def := range all {
		for _, v := range def.Versions {
			b.doubtFutile(v)
		}
	}
	for _, pkg := range b.in.Roots {
		if _, _, ok := groupVersion(b.in.Markers, pkg); !ok {
			continue
		}
		for _, t := range b.in.Markers.Types(pkg) {
			if len(t.Markers) > 0 && !b.isKind(t) {
				b.doubtNoKind(t)
			}
		}
	}
}

func (b *builder) doubtFutile(v *Version) {
	for _, m := range resourceMarkers {
		if m.futile == nil {
			continue
		}
		for i, value := range v.Type.Markers[m.Name] {
			for _, f := range m.futile(v, value) {
				at := v.Type.Places[m.Name][i]
				if f.argument != "" {
					at = at.Argument(f.argument)
				}
				b.in.Doubt(originOfType(v.Type).mistake(at, f.what, f.fix))
			}
		}
	}
}

// doubtNoKind records the markers of kinds on a type that is none, so that they have no effect.
func (b *builder) doubtNoKind(t *marker.Type) {
	_, isStruct := t.Decl.Spec.Type.(*ast.StructType)
	fix := "embed metav1.TypeMeta and metav1.ObjectMeta, without names for the fields"
	switch {
	case t.Decl.Spec.Assign.IsValid():
		fix = "leave out the equals sign of the declaration, or put it on the type that it stands for"
	case t.Decl.Spec.TypeParams != nil:
		fix = "put it on a struct without type parameters"
	case !isStruct:
		fix = "put it on a struct that embeds metav1.TypeMeta and metav1.ObjectMeta"
	case embeds(t, "ListMeta"):
		fix = "put it on the type of the items"
	}
	item := b.in.Markers.Type(t.Package, strings.TrimSuffix(t.Name, "List"))
	for _, m := range resourceMarkers {
		if item != nil && item != t && embeds(t, "ListMeta") && item.Markers.Has(m.Name) {
			continue // a copy of what stands where it belongs
		}
		for _, at := range t.Places[m.Name] {
			b.in.Doubt(originOfType(t).mistake(at, fmt.Sprintf("+%s has no effect on %s, which is no kind", m.Name, t.Name), fix))
		}
	}
}

// futileColumn tells a column that is always empty.
func futileColumn(v *Version, c PrintColumn) []futile {
	if !strings.HasPrefix(c.JSONPath, ".") {
		return nil // the API server refuses it
	}
	to := v.follow(c.JSONPath)
	if to.wrong.what != "" {
		return []futile{{"JSONPath", to.wrong}}
	}
	if to.at == nil || to.at.open() {
		return nil
	}
	shown := map[string][]string{
		"integer": {"integer", "number"}, "number": {"integer", "number"}, "boolean": {"boolean"}, "date": {"string"},
	}[c.Type]
	if shown == nil || slices.Contains(shown, to.at.Type) {
		return nil // all is shown as a string
	}
	return []futile{{"type", astray{
		fmt.Sprintf("the column is always empty: %s is %s, which is not shown as type %s", c.JSONPath, article(to.at.Type), c.Type), "write type=" + columnType(to.at.Type),
	}}}
}

// columnType is the type of columns that shows values of a type.
func columnType(of string) string {
	if slices.Contains(columnTypes, of) {
		return of
	}
	return "string"
}

// futileScale tells paths at which there cannot be what the scale subresource needs.
func futileScale(v *Version, s Scale) (out []futile) {
	check := func(argument, path, typ string) {
		// The API server refuses others.
		if !strings.HasPrefix(path, ".spec.") && !strings.HasPrefix(path, ".status.") {
			return
		}
		to := walk{at: v.Schema}
		for _, name := range strings.Split(path[1:], ".") {
			if to.at != nil {
				to.field(name, "."+name)
			}
		}
		switch {
		case to.wrong.what != "":
			out = append(out, futile{argument, to.wrong})
		case to.at != nil && !to.at.open() && to.at.Type != typ:
			out = append(out, futile{argument, astray{what: fmt.Sprintf("%s is %s, and the scale needs %s", path, article(to.at.Type), article(typ))}})
		}
	}
	check("specpath", s.SpecPath, "integer")
	check("statuspath", s.StatusPath, "integer")
	if s.SelectorPath != nil {
		check("selectorpath", *s.SelectorPath, "string")
	}
	return out
}

// futileStatus tells a kind without a status.
func futileStatus(v *Version, _ none) []futile {
	if s := v.Schema; s.open() || s.Properties["status"] != nil || s.PreserveUnknownFields != nil {
		return nil
	}
	return []futile{{"", astray{"there is no field with the json name status: the API server drops what is written to the subresource", "add Status, or drop the marker"}}}
}
