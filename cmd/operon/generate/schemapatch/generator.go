package schemapatch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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
		Summary: "puts the schemas of the Go types into CustomResourceDefinitions that are there.",
		Fields: map[string]string{
			"Manifests":                  "is the directory of their YAML files.",
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
	kinds := map[kind]*crd.Definition{}
	for _, def := range definitions.Kinds(ctx, in) {
		kinds[kind{def.Group, def.Kind}] = def
	}
	var out []generate.Artifact
	for _, f := range files {
		if ext := filepath.Ext(f.Name()); f.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		m, err := read(filepath.Join(g.Manifests, f.Name()))
		if err != nil {
			return nil, err
		}
		if m == nil {
			continue
		}
		if def := kinds[m.kind()]; def != nil {
			m.patch(def, definitions)
			m.review(in, def)
		}
		patched, err := m.encoded()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		out = append(out, generate.Artifact{Name: f.Name(), Data: patched})
	}
	return out, ctx.Err()
}

// kind tells kinds apart.
type kind struct{ group, kind string }
