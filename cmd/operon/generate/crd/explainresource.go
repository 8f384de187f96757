package crd

import (
	"fmt"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// explainResource is for a refusal of what is not in a schema.
func (e *explainer) explainResource(p place, r generate.Refusal) {
	var names []string
	index := -1
	for _, s := range p.rest {
		names = append(names, s.Name)
		if s.Key != "" {
			index = s.Index()
		}
	}
	path := strings.Join(names, ".")
	t := p.version.Type
	name, argument, ok := writer(path)
	if places := t.Places[name]; ok && len(places) > 0 {
		at := places[0]
		// Names are one marker with lists; columns and fields are a marker each.
		if index >= 0 && index < len(places) && !strings.HasPrefix(path, "names.") {
			at = places[index]
		}
		span := at.Argument(argument)
		if r.Value != "" {
			span = at.Item(argument, r.Value)
		}
		subject := argument
		if subject == "" {
			subject = "+" + name
		}
		e.wrong(originOfType(t).mistake(span, subject+" "+r.Sentence(), ""))
		return
	}
	if path == "versions" && strings.Contains(r.Detail, "one version marked as storage") {
		return // finish has said so
	}
	if e.def.Group == "" {
		if path == "group" {
			o := originOfType(t)
			e.doubt(o.mistake(o.span, e.def.Kind+" belongs to no API group", "put // +groupName=<group> above the package clause of a file"))
		}
		return // the version is not known without the group
	}
	what := fmt.Sprintf("%s of %s %s", path, e.def.Kind, r.Sentence())
	if path == "group" {
		if places := packagePlaces(e.in, t)["groupName"]; len(places) > 0 {
			e.wrong(originOfType(t).mistake(places[0].Argument(""), "the group "+r.Sentence(), ""))
			return
		}
	}
	if strings.HasSuffix(path, "name") {
		if places := packagePlaces(e.in, t)["versionName"]; len(places) > 0 {
			e.wrong(originOfType(t).mistake(places[0].Argument(""), "the version "+r.Sentence(), ""))
			return
		}
	}
	o := originOfType(t)
	e.doubt(o.mistake(o.span, what, ""))
}

func packagePlaces(in *generate.Input, t *marker.Type) marker.Places {
	_, places := in.Markers.PackagePlaces(t.Package)
	return places
}
