package crd

import (
	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
)

// Declarations makes the schemas of declared types, each for itself: where a type mentions another declared type its schema refers to it, see
// [Schema.Refers]. Types that encode themselves have the schemas that definitions give them, but for metadata, which has its fields here.
type Declarations struct{ b *builder }

// NewDeclarations returns the declarations that an input's packages can name.
func NewDeclarations(in *generate.Input) *Declarations {
	dangerous := true
	b := newBuilder(in, &Generator{AllowDangerousTypes: &dangerous})
	b.shallow = true
	return &Declarations{b: b}
}

// Schema returns the schema of a type that the package declares. It must not be changed.
func (d *Declarations) Schema(pkg *load.Package, name string) *Schema {
	return d.b.typeSchema(pkg, name)
}

// Refers tells the declared type that a schema refers to. Beside that it says only what a field's markers add.
func (s *Schema) Refers() (pkg, name string, ok bool) {
	if s.ref == nil {
		return "", "", false
	}
	return s.ref.pkg, s.ref.name, true
}
