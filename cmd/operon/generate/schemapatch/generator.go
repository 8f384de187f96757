package schemapatch

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"go.yaml.in/yaml/v3"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// Generator puts schemas into the manifests of a directory.
type Generator struct {
	// Manifests is the directory with the manifests.
	Manifests string
	// MaxDescLen is how many characters a description has at most. Nil means no bound, 0 means no descriptions.
	MaxDescLen *int
	// GenerateEmbeddedObjectMeta gives a schema to the fields of an ObjectMeta that is not the object's own.
	GenerateEmbeddedObjectMeta *bool
}

// Help describes the generator and its options.
func Help() marker.Help {
	return marker.Help{
		Summary: "patches existing CRDs with new schemata.",
		Fields: map[string]string{
			"Manifests":                  "contains the CustomResourceDefinition YAML files.",
			"MaxDescLen":                 "bounds the length of descriptions; 0 leaves them out.",
			"GenerateEmbeddedObjectMeta": "gives a schema to metadata below the top.",
		},
	}
}

// Markers are those of package crd.
func (Generator) Markers() []marker.Definition { return crd.Generator{}.Markers() }

// Generate returns the manifests with their schemas brought up to date.
func (g Generator) Generate(ctx context.Context, in *generate.Input) ([]generate.Artifact, error) {
	files, err := os.ReadDir(g.Manifests)
	if err != nil {
		return nil, err
	}
	definitions := crd.Generator{MaxDescLen: g.MaxDescLen, GenerateEmbeddedObjectMeta: g.GenerateEmbeddedObjectMeta}
	schemas := map[kind]map[string]map[string]any{}
	for _, def := range definitions.Kinds(ctx, in) {
		versions := map[string]map[string]any{}
		for _, v := range def.Versions {
			versions[v.Name] = definitions.Tree(v)
		}
		schemas[kind{def.Group, def.Kind}] = versions
	}
	var out []generate.Artifact
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); f.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		name := filepath.Join(g.Manifests, f.Name())
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		patched, err := patch(data, schemas)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if patched != nil {
			out = append(out, generate.Artifact{Name: f.Name(), Data: patched})
		}
	}
	return out, ctx.Err()
}

// kind tells kinds apart.
type kind struct{ group, kind string }

// patch returns a manifest with new schemas, by kind and version, and nil for a file that is no manifest.
func patch(data []byte, schemas map[kind]map[string]map[string]any) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || text(doc.Content[0], "kind") != "CustomResourceDefinition" ||
		text(doc.Content[0], "apiVersion") != "apiextensions.k8s.io/v1" {
		return nil, nil
	}
	spec := value(doc.Content[0], "spec")
	versions, known := schemas[kind{text(spec, "group"), text(value(spec, "names"), "kind")}]
	if list := value(spec, "versions"); known && list != nil {
		for _, version := range list.Content {
			schema, ok := versions[text(version, "name")]
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
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&doc); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
