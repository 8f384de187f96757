package schemapatch

import (
	"bytes"
	"fmt"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/operon-dev/operon/cmd/operon/generate/crd"
)

// manifest is a file with a CustomResourceDefinition.
type manifest struct {
	name string
	doc  yaml.Node
}

// read reads a manifest. It is nil for a file that is none.
func read(name string) (*manifest, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	m := &manifest{name: name}
	if err := yaml.Unmarshal(data, &m.doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if m.doc.Kind != yaml.DocumentNode || text(m.root(), "kind") != "CustomResourceDefinition" ||
		text(m.root(), "apiVersion") != "apiextensions.k8s.io/v1" {
		return nil, nil
	}
	return m, nil
}

func (m *manifest) root() *yaml.Node { return m.doc.Content[0] }

func (m *manifest) kind() kind {
	spec := value(m.root(), "spec")
	return kind{text(spec, "group"), text(value(spec, "names"), "kind")}
}

// versions are the versions, as they are written.
func (m *manifest) versions() []*yaml.Node {
	list := value(value(m.root(), "spec"), "versions")
	if list == nil {
		return nil
	}
	return list.Content
}

// patch puts the schemas of a kind into its versions.
func (m *manifest) patch(def *crd.Definition, options crd.Generator) {
	schemas := trees(def, options)
	for _, version := range m.versions() {
		schema, ok := schemas[text(version, "name")]
		if !ok {
			remove(version, "schema")
			continue
		}
		holder := value(version, "schema")
		if holder == nil || holder.Kind != yaml.MappingNode {
			holder = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
			set(version, "schema", holder)
		}
		set(holder, "openAPIV3Schema", schemaNode(schema))
	}
}

// trees are the schemas of a kind by version.
func trees(def *crd.Definition, options crd.Generator) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, v := range def.Versions {
		out[v.Name] = options.Tree(v)
	}
	return out
}

// encoded is the manifest as it is written.
func (m *manifest) encoded() ([]byte, error) {
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&m.doc); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
