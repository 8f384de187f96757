package schemapatch

import (
	"encoding/json"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// review puts a manifest with schemas of a kind before the API server's own checks. What is wrong with the schemas is explained where the types
// are, and all else, which may be on purpose since it is written by hand, is doubtful.
func (m *manifest) review(in *generate.Input, def *crd.Definition) {
	schemas := trees(def, crd.Generator{MaxDescLen: new(0)})
	var names []string
	for _, version := range m.versions() {
		names = append(names, text(version, "name"))
	}
	if in.Review == nil || !slices.ContainsFunc(names, func(name string) bool { return schemas[name] != nil }) {
		return
	}
	object, err := m.object(schemas)
	if err != nil {
		in.Doubt(m.mistake(m.root(), "this is no object of the API: "+err.Error()))
		return
	}
	in.Review(generate.Review{Object: object, Explain: func(refusals []generate.Refusal) (mistakes, doubts []diag.Mistake) {
		mistakes, doubts, others := def.ExplainSchemas(in, names, refusals)
		for _, r := range others {
			if !strings.HasPrefix(r.Path, "status.") { // that follows from the rest
				doubts = append(doubts, m.mistake(m.find(r.Path), r.Path+" "+r.Sentence()))
			}
		}
		return mistakes, doubts
	}})
}

// object is the manifest in JSON, with these schemas by version in the place of its own.
func (m *manifest) object(schemas map[string]map[string]any) ([]byte, error) {
	var outlines []*yaml.Node
	for _, version := range m.versions() {
		outlines = append(outlines, replaced(version, "schema", nil))
	}
	spec := value(m.root(), "spec")
	list := *value(spec, "versions")
	list.Content = outlines
	var object struct {
		Spec struct {
			Versions []map[string]any
			Rest     map[string]any `yaml:",inline"`
		}
		Rest map[string]any `yaml:",inline"`
	}
	if err := replaced(m.root(), "spec", replaced(spec, "versions", &list)).Decode(&object); err != nil {
		return nil, err
	}
	for _, version := range object.Spec.Versions {
		if schema := schemas[fmt.Sprint(version["name"])]; schema != nil {
			version["schema"] = map[string]any{"openAPIV3Schema": schema}
		}
	}
	whole := map[string]any{}
	for key, v := range object.Rest {
		whole[key] = v
	}
	inner := map[string]any{"versions": object.Spec.Versions}
	for key, v := range object.Spec.Rest {
		inner[key] = v
	}
	whole["spec"] = inner
	return json.Marshal(whole)
}

// replaced is a mapping with another value for a key, or without the key for nil. The mapping itself stays as it is.
func replaced(node *yaml.Node, key string, v *yaml.Node) *yaml.Node {
	out := *node
	out.Content = slices.Clone(node.Content)
	if v == nil {
		remove(&out, key)
	} else {
		set(&out, key, v)
	}
	return &out
}

// find is the node that a path leads to, or the last on the way that the manifest has.
func (m *manifest) find(path string) *yaml.Node {
	found, at := m.root(), m.root()
	for _, step := range generate.Steps(path) {
		i := index(at, step.Name)
		if versions := m.versions(); i < 0 && at == value(m.root(), "spec") && len(versions) > 0 {
			// What all versions have in common, the API server takes out of them.
			i, at = index(versions[0], step.Name), versions[0]
		}
		if i < 0 || at.Content[i].Line == 0 {
			break
		}
		found, at = at.Content[i], at.Content[i+1]
		if n := step.Index(); n >= 0 && at.Kind == yaml.SequenceNode && n < len(at.Content) {
			found, at = at.Content[n], at.Content[n]
		}
	}
	return found
}

func (m *manifest) mistake(at *yaml.Node, what string) diag.Mistake {
	return diag.Mistake{
		Pos: token.Position{Filename: m.name, Line: at.Line, Column: at.Column}, Len: len(at.Value), What: what, Refused: true,
	}
}
