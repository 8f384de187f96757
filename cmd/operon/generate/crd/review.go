package crd

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// review returns what is to be put before the API server's own checks; nil for a definition that is plain.
func (g *Generator) review(in *generate.Input, def *Definition) *generate.Review {
	if in.Review == nil {
		return nil
	}
	if !def.approved() {
		in.Doubt(def.mistake("the group "+def.Group+" is Kubernetes' own, and the API server wants to know who approved of the kind",
			`add +kubebuilder:metadata:annotations="`+approval+`=<the pull request, or unapproved and a reason>"`))
	}
	plain, rules := def.plain()
	if plain && !rules {
		return nil
	}
	object, err := json.Marshal(def.bare(g))
	if err != nil {
		return nil // what cannot be written is an error where it is written
	}
	return &generate.Review{Object: object, OnlyRules: plain, Explain: func(refusals []generate.Refusal) (mistakes, doubts []diag.Mistake) {
		return def.explain(in, refusals)
	}}
}

// explain says where in the source the reasons are for which the definition is refused.
func (def *Definition) explain(in *generate.Input, refusals []generate.Refusal) (mistakes, doubts []diag.Mistake) {
	e := &explainer{in: in, def: def, refusals: refusals}
	// What makes a rule expensive by itself says more than what it adds to the sum: of two mistakes at the same place, the first is reported.
	for _, sum := range []bool{false, true} {
		for _, r := range refusals {
			if strings.Contains(r.Detail, "contributed to") == sum {
				e.explain(r)
			}
		}
	}
	return e.mistakes, e.doubts
}

// ExplainSchemas says where in the source the reasons are for which a definition is refused that is written by hand and has the kind's schemas. Versions
// are the names of its versions, in its order. The refusals that are not about a schema of the kind are the others.
func (def *Definition) ExplainSchemas(in *generate.Input, versions []string, refusals []generate.Refusal) (mistakes, doubts []diag.Mistake, others []generate.Refusal) {
	manifest := *def
	manifest.Versions = nil
	for _, name := range versions {
		i := slices.IndexFunc(def.Versions, func(v *Version) bool { return v.Name == name })
		if i < 0 {
			manifest.Versions = append(manifest.Versions, &Version{Name: name, Schema: &Schema{}})
			continue
		}
		manifest.Versions = append(manifest.Versions, def.Versions[i])
	}
	var own []generate.Refusal
	for _, r := range refusals {
		if p := manifest.locate(r.Path); p.inSchema && p.version.Type != nil {
			own = append(own, r)
		} else {
			others = append(others, r)
		}
	}
	mistakes, doubts = manifest.explain(in, own)
	return mistakes, doubts, others
}

// approval is the annotation that names the approval of a kind in a group of Kubernetes.
const approval = "api-approved.kubernetes.io"

var protected = regexp.MustCompile(`(^|\.)(k8s|kubernetes)\.io$`)

// approved tells that the definition has the approval that it needs, if any. It often comes with what a project patches in.
func (def *Definition) approved() bool {
	value := def.Annotations[approval]
	at, err := url.ParseRequestURI(value)
	return !protected.MatchString(def.Group) || strings.HasPrefix(value, "unapproved") || err == nil && at.Host != "" && at.Scheme != ""
}

// bare is the definition without what is for readers only, so that a change of a comment is none.
func (def *Definition) bare(g *Generator) map[string]any {
	options := Generator{MaxDescLen: new(0), OmitToolVersion: new(true)}
	options.DeprecatedV1beta1CompatibilityPreserveUnknownFields = g.DeprecatedV1beta1CompatibilityPreserveUnknownFields
	return def.tree(&options)
}

// place is where a path leads: through the schemas of a version, to a keyword of the last of them.
type place struct {
	version *Version
	// nodes are the schemas from the root on, and names what they are called in the one before.
	nodes []*Schema
	names []string
	// rest is what follows the schemas.
	rest []generate.Step
	// inSchema tells that the path is one into a schema at all.
	inSchema bool
}

func (p place) node() *Schema { return p.nodes[len(p.nodes)-1] }

// keyword is the first step behind the schemas.
func (p place) keyword() generate.Step {
	if len(p.rest) == 0 {
		return generate.Step{}
	}
	return p.rest[0]
}

// locate follows a path. What all versions have in common is called spec.validation and so on by the API server.
func (def *Definition) locate(path string) place {
	rest := generate.Steps(path)
	if len(rest) == 0 || rest[0].Name != "spec" {
		return place{rest: rest}
	}
	rest = rest[1:]
	p := place{version: def.Versions[0]}
	if len(rest) > 0 && rest[0].Name == "versions" {
		if i := rest[0].Index(); i >= 0 && i < len(def.Versions) {
			p.version, rest = def.Versions[i], rest[1:]
		}
	}
	if len(rest) < 2 || rest[0].Name != "schema" && rest[0].Name != "validation" || !strings.HasPrefix(rest[1].Name, "openAPIV3Schema") {
		p.rest = rest
		return p
	}
	p.inSchema = true
	p.nodes, p.names, rest = []*Schema{p.version.Schema}, []string{""}, rest[2:]
	for len(rest) > 0 {
		next := p.node().step(rest[0])
		if next == nil {
			break
		}
		p.nodes, p.names = append(p.nodes, next), append(p.names, rest[0].Key)
		rest = rest[1:]
	}
	p.rest = rest
	return p
}

// step is the schema within a schema that a step leads to, nil for none.
func (s *Schema) step(to generate.Step) *Schema {
	switch to.Name {
	case "properties":
		return s.Properties[to.Key]
	case "items":
		return s.Items
	case "additionalProperties":
		return s.AdditionalProperties
	case "allOf":
		if i := to.Index(); i >= 0 && i < len(s.AllOf) {
			return s.AllOf[i]
		}
	}
	return nil
}
