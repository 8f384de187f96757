package crd

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"slices"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// Generator generates CustomResourceDefinitions. Its zero value does what controller-gen does without options.
type Generator struct {
	// IgnoreUnexportedFields passes over unexported fields that have no json tag, which are a mistake otherwise.
	IgnoreUnexportedFields *bool
	// AllowDangerousTypes allows float32 and float64.
	AllowDangerousTypes *bool
	// MaxDescLen is how many characters a description has at most. Nil means no bound, 0 means no descriptions. A description
	// that is too long ends at the last sentence or word that fits.
	MaxDescLen *int
	// MaxSize is how many bytes a definition has at most. Where it is larger, its descriptions are shortened until it fits; where it does not
	// fit without any, that is a mistake. Nil means no bound.
	MaxSize *int
	// NestedDefaults gives each struct that is a field, and has neither a default nor a pointer to it, the defaults of its fields for a default. So those
	// hold where the struct as a whole is left out. Structs with required fields that have none are left alone.
	NestedDefaults *bool
	// CRDVersions are the versions of apiextensions.k8s.io to write. There is only v1.
	CRDVersions []string `marker:"crdVersions,optional"`
	// GenerateEmbeddedObjectMeta gives a schema to the fields of an ObjectMeta that is not the object's own.
	GenerateEmbeddedObjectMeta *bool
	// HeaderFile is the path of a file whose text heads each file.
	HeaderFile string `marker:",optional"`
	// Year replaces " YEAR" in the header.
	Year string `marker:",optional"`
	// DeprecatedV1beta1CompatibilityPreserveUnknownFields writes spec.preserveUnknownFields: false, for definitions that were of v1beta1 once.
	DeprecatedV1beta1CompatibilityPreserveUnknownFields *bool
	// OmitToolVersion leaves out the annotation with the version of the generator.
	OmitToolVersion *bool

	// ToolVersion is the value of the annotation controller-gen.kubebuilder.io/version.
	ToolVersion string `marker:"-"`
}

// Help describes the generator and its options.
func Help() marker.Help {
	return marker.Help{
		Category: "generators",
		Summary:  "generates CustomResourceDefinitions.",
		Fields: map[string]string{
			"IgnoreUnexportedFields":     "passes over unexported fields without a json tag.",
			"AllowDangerousTypes":        "allows float32 and float64.",
			"MaxDescLen":                 "bounds the length of descriptions; 0 leaves them out.",
			"MaxSize":                    "bounds the size of a definition in bytes, by shortening descriptions (not in controller-gen).",
			"NestedDefaults":             "gives structs the defaults of their fields for a default, as +operon:default:nested does for one (not in controller-gen).",
			"CRDVersions":                "the versions of apiextensions.k8s.io to write: v1.",
			"GenerateEmbeddedObjectMeta": "gives a schema to metadata below the top.",
			"HeaderFile":                 "a file whose text heads each file.",
			"Year":                       "replaces \" YEAR\" in the header.",
			"OmitToolVersion":            "leaves out the annotation with the generator's version.",
			"DeprecatedV1beta1CompatibilityPreserveUnknownFields": "writes preserveUnknownFields: false.",
		},
	}
}

// Markers lists the markers of types, fields and packages that say what a definition is.
func (Generator) Markers() []marker.Definition { return slices.Clone(definitions) }

// Generate returns a file for each kind, with all of its versions.
func (g Generator) Generate(ctx context.Context, in *generate.Input) ([]generate.Artifact, error) {
	for _, v := range g.CRDVersions {
		if v != "v1" {
			return nil, fmt.Errorf("crd:crdVersions=%s: Kubernetes knows v1 only since 1.22", v)
		}
	}
	header, err := generate.Header(g.HeaderFile, g.Year)
	if err != nil {
		return nil, err
	}
	all := g.Definitions(ctx, in)
	rendered := make([]rendered, len(all))
	generate.Each(len(all), func(i int) { rendered[i] = g.renderForReview(in, header, all[i]) })
	var out []generate.Artifact
	for i, def := range all {
		r := rendered[i]
		if r.err != nil {
			return nil, r.err
		}
		if r.review != nil {
			in.Review(*r.review)
		}
		if g.MaxSize != nil && len(r.data) > *g.MaxSize {
			m := def.at
			m.What = fmt.Sprintf("the definition of %s has %d bytes even without descriptions, more than maxSize=%d", def.Kind, len(r.data), *g.MaxSize)
			in.Mistakes.Add(m)
		}
		out = append(out, generate.Artifact{Name: def.Group + "_" + def.Plural + ".yaml", Data: r.data})
	}
	return out, ctx.Err()
}

// rendered is what comes of a definition.
type rendered struct {
	// review is nil where there is nothing to ask.
	review *generate.Review
	data   []byte
	err    error
}

func (g Generator) renderForReview(in *generate.Input, header string, def *Definition) (r rendered) {
	r.review = g.review(in, def)
	r.data, r.err = g.render(header, def)
	return r
}

// render writes a definition, with descriptions as long as its size allows.
func (g Generator) render(header string, def *Definition) ([]byte, error) {
	data, err := generate.YAML(header, def.tree(&g))
	if g.MaxSize == nil {
		return data, err
	}
	for _, length := range []int{1000, 500, 200, 100, 50, 20, 0} {
		if err != nil || len(data) <= *g.MaxSize {
			break
		}
		if g.MaxDescLen == nil || *g.MaxDescLen > length {
			g.MaxDescLen = &length
		}
		data, err = generate.YAML(header, def.tree(&g))
	}
	return data, err
}

// Definitions makes the definitions of all kinds in the roots, sorted by kind and group.
func (g Generator) Definitions(ctx context.Context, in *generate.Input) []*Definition {
	b := newBuilder(in, &g)
	out := g.kinds(ctx, in, b)
	for _, def := range out {
		b.finish(def)
	}
	b.oneDefinitionEach(out)
	b.doubtKinds(out)
	return out
}

// Kinds is Definitions for who writes the definitions otherwise: nothing is asked of the versions as a whole, such as which of them is stored.
func (g Generator) Kinds(ctx context.Context, in *generate.Input) []*Definition {
	return g.kinds(ctx, in, newBuilder(in, &g))
}

func (g Generator) kinds(ctx context.Context, in *generate.Input, b *builder) []*Definition {
	byKind := map[[2]string]*Definition{}
	var out []*Definition
	for _, pkg := range in.Roots {
		if ctx.Err() != nil {
			return nil
		}
		group, version, ok := groupVersion(in.Markers, pkg)
		if !ok {
			continue
		}
		for _, t := range in.Markers.Types(pkg) {
			if !b.isKind(t) || t.Markers.Has("kubebuilder:skipversion") {
				continue
			}
			key := [2]string{group, t.Name}
			if byKind[key] == nil {
				byKind[key] = newDefinition(group, t.Name)
				out = append(out, byKind[key])
			}
			b.addVersion(byKind[key], version, t)
		}
	}
	slices.SortFunc(out, func(a, b *Definition) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Group, b.Group))
	})
	return out
}

// groupVersion tells the API group and version of a package, and whether it may have kinds.
func groupVersion(markers *marker.Collector, pkg *load.Package) (group, version string, ok bool) {
	if !pkg.Mentions("ObjectMeta") && !pkg.Mentions("+groupName") {
		return "", "", false
	}
	values := markers.Package(pkg)
	if values.Has("kubebuilder:skip") {
		return "", "", false
	}
	name, ok := marker.First[*string](values, "groupName")
	if !ok {
		// A kind outside any group is an object that only Go code uses, but the peer writes a definition for it.
		return "", "", true
	}
	if name != nil {
		group = *name
	}
	version = pkg.Name
	if v, ok := marker.First[string](values, "versionName"); ok {
		version = v
	}
	return group, version, true
}

// isKind tells a struct that has the fields of an object of the API: TypeMeta and ObjectMeta, embedded. A type that is made from such a struct
// is one too, an alias is not.
func (b *builder) isKind(t *marker.Type) bool {
	for range 10 {
		if t == nil || t.Decl.Spec.Assign.IsValid() || t.Decl.Spec.TypeParams != nil {
			return false
		}
		switch expr := t.Decl.Spec.Type.(type) {
		case *ast.StructType:
			return embedsMeta(t)
		case *ast.SelectorExpr, *ast.Ident:
			if !t.Package.Root && !t.Package.Mentions("ObjectMeta") {
				return false
			}
			pkg, name := b.named(scope{pkg: t.Package, file: t.Decl.File}, expr)
			if pkg == nil {
				return false
			}
			t = b.in.Markers.Type(pkg, name)
		default:
			return false
		}
	}
	return false
}

func embedsMeta(t *marker.Type) bool { return embeds(t, "TypeMeta") && embeds(t, "ObjectMeta") }

// embeds tells a struct that embeds a type of the API machinery's metadata.
func embeds(t *marker.Type, name string) bool {
	return slices.ContainsFunc(t.Fields, func(f marker.Field) bool {
		return f.Name == "" && metaField(t.Package, t.Decl.File, f.Raw.Type) == name
	})
}

func metaField(pkg *load.Package, file *ast.File, expr ast.Expr) string {
	sel, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	qualifier, ok := sel.X.(*ast.Ident)
	if !ok {
		return ""
	}
	if path, ok := pkg.ImportOf(file, qualifier.Name); !ok || unvendored(path) != metaPackage {
		return ""
	}
	return sel.Sel.Name
}
