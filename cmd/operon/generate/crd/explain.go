package crd

import (
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// explainer turns what the API server says about a definition into mistakes in the source.
type explainer struct {
	in  *generate.Input
	def *Definition
	// refusals are all that there are.
	refusals []generate.Refusal

	mistakes, doubts []diag.Mistake
}

func (e *explainer) wrong(m diag.Mistake) { e.mistakes = append(e.mistakes, m) }
func (e *explainer) doubt(m diag.Mistake) { e.doubts = append(e.doubts, m) }

// explain adds a refusal to the mistakes where a marker in a root package is at fault, and else to the doubts: what no marker says, such as a type
// that is missing from a schema, published projects patch into their definitions after they are generated.
func (e *explainer) explain(r generate.Refusal) {
	p := e.def.locate(r.Path)
	if strings.HasPrefix(r.Path, "status.") {
		return // it is about what follows from the rest
	}
	if strings.Contains(r.Detail, approval) {
		return // a doubt already
	}
	if r.Path == "metadata.name" && e.has("a DNS-1035 label must") {
		return // the name is made of the one that is wrong
	}
	if p.version == nil && (r.Path == "metadata.annotations" || r.Path == "metadata.labels") {
		t := e.def.Versions[0].Type
		if at, ok := originOfType(t).marked([]string{"kubebuilder:metadata"}); ok {
			_, argument, _ := strings.Cut(r.Path, ".")
			e.wrong(originOfType(t).mistake(at.Argument(argument), argument+" "+r.Sentence(), ""))
			return
		}
	}
	if p.version == nil {
		e.doubt(e.def.mistake(r.Path+" "+r.Sentence(), ""))
		return
	}
	if !p.inSchema {
		e.explainResource(p, r)
		return
	}
	if p.keyword().Name == "x-kubernetes-validations" {
		e.explainRule(p, r)
		return
	}
	what, fix := p.subject()+" "+r.Sentence(), ""
	if strings.Contains(r.Detail, "estimated rule cost total") {
		if !e.has("estimated rule cost exceeds", "estimated messageExpression cost exceeds") {
			e.wrong(e.def.mistake("all rules together "+budget(r.Detail), "make the most expensive of them, which are named besides, cheaper"))
		}
		return
	}
	for _, node := range slices.Backward(p.nodes) {
		for _, o := range node.from {
			if !o.pkg.Root {
				continue
			}
			names := saying(p.keyword().Name)
			if strings.Contains(r.Detail, "x-kubernetes-embedded-resource") {
				names = append(names, saying("x-kubernetes-embedded-resource")...)
			}
			if at, ok := o.marked(names); ok {
				e.wrong(o.mistake(at.Argument(""), what, fix))
				return
			}
		}
	}
	if o := p.declaration(); o != nil {
		e.doubt(o.mistake(o.span, what, fix))
		return
	}
	e.doubt(e.def.mistake(r.Path+" "+r.Sentence(), fix))
}

// has tells that one of the refusals says one of these.
func (e *explainer) has(texts ...string) bool {
	return slices.ContainsFunc(e.refusals, func(r generate.Refusal) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(r.Detail, text) })
	})
}

// mistake is one about the definition as a whole, which the API server would refuse.
func (def *Definition) mistake(what, fix string) diag.Mistake {
	m := def.at
	m.What, m.Fix, m.Refused = what, fix, true
	return m
}

// declaration is the nearest declaration in a root package, from the last schema back to the first.
func (p place) declaration() *origin {
	for _, node := range slices.Backward(p.nodes) {
		for _, o := range node.from {
			if o.pkg.Root {
				return o
			}
		}
	}
	return nil
}

// subject names what a refusal of a schema is about.
func (p place) subject() string {
	if name := p.keyword().Name; name != "" {
		return name
	}
	return "the schema"
}

// saying lists the markers that a keyword of a schema may come from.
func saying(keyword string) []string {
	switch keyword {
	case "default":
		return []string{"kubebuilder:default", "default"}
	case "x-kubernetes-list-type":
		return []string{"listType", "k8s:listType"}
	case "x-kubernetes-list-map-keys":
		return []string{"listMapKey", "k8s:listMapKey"}
	case "x-kubernetes-map-type":
		return []string{"mapType", "structType"}
	case "x-kubernetes-preserve-unknown-fields":
		return []string{"kubebuilder:pruning:PreserveUnknownFields", "kubebuilder:validation:XPreserveUnknownFields"}
	case "x-kubernetes-embedded-resource":
		return []string{"kubebuilder:validation:EmbeddedResource", "kubebuilder:validation:XEmbeddedResource"}
	case "x-kubernetes-int-or-string":
		return []string{"kubebuilder:validation:XIntOrString"}
	case "nullable":
		return []string{"nullable"}
	case "":
		return nil
	}
	name := strings.ToUpper(keyword[:1]) + keyword[1:]
	return []string{"kubebuilder:validation:" + name, "kubebuilder:validation:items:" + name, "k8s:" + keyword}
}
