package applyconfiguration

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
	"sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/crd"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
)

// schemas are the schemas of a package's roots and of all types that they mention, as server-side apply sees them.
type schemas struct {
	declarations *crd.Declarations
	types        map[string]crdType // by the names of their schemas
	roots        map[*declared]string
}

// crdType is a declared type in terms of package crd.
type crdType struct {
	pkg    *load.Package
	name   string
	schema *crd.Schema
}

// newSchemas makes the schemas that the package's resources reach. It returns nil where there is no resource.
func (a *api) newSchemas(all []*declared) *schemas {
	s := &schemas{declarations: crd.NewDeclarations(a.in), types: map[string]crdType{}, roots: map[*declared]string{}}
	reached := false
	for _, d := range all {
		if d.resource {
			s.reach(crdType{pkg: a.pkg, name: d.name()})
			reached = true
		}
	}
	if !reached {
		return nil
	}
	for _, d := range all {
		if d.tags.applies() {
			s.roots[d] = schemaName(a.pkg.Path, d.name())
		}
	}
	return s
}

// schemaName is the name of a type's schema: that of OpenAPI, with the package's host the other way round.
func schemaName(pkg, name string) string {
	if i := strings.LastIndex(pkg, "/vendor/"); i >= 0 {
		pkg = pkg[i+len("/vendor/"):]
	}
	host, rest, deeper := strings.Cut(pkg, "/")
	if strings.Contains(host, ".") || !deeper {
		parts := strings.Split(host, ".")
		slices.Reverse(parts)
		host = strings.Join(parts, ".")
	}
	if deeper {
		host += "." + strings.ReplaceAll(rest, "/", ".")
	}
	return host + "." + name
}

// reach adds the schema of a type, and of those that it mentions.
func (s *schemas) reach(t crdType) {
	key := schemaName(t.pkg.Path, t.name)
	if _, done := s.types[key]; done {
		return
	}
	// A type that is made from another has the schema of that.
	in, name := t.pkg, t.name
	for t.schema = s.declarations.Schema(in, name); ; t.schema = s.declarations.Schema(in, name) {
		pkg, other, ok := t.schema.Refers()
		if !ok {
			break
		}
		if in, name = s.imported(in, pkg), other; in == nil {
			return // the type checker has complained
		}
	}
	s.types[key] = t
	references(t.schema, func(pkg, name string) {
		if in := s.imported(in, pkg); in != nil {
			s.reach(crdType{pkg: in, name: name})
		}
	})
}

// imported finds the package of a type that one of another package mentions, which may be by way of a struct of a third package that it
// embeds. It is nil where there is none.
func (s *schemas) imported(from *load.Package, path string) *load.Package {
	if path == from.Path {
		return from
	}
	pkg, err := from.Import(path)
	if err != nil {
		return nil
	}
	return pkg
}

// references calls found for each type that a schema refers to.
func references(s *crd.Schema, found func(pkg, name string)) {
	if s == nil {
		return
	}
	if pkg, name, ok := s.Refers(); ok {
		found(pkg, name)
		return
	}
	references(s.Items, found)
	references(s.AdditionalProperties, found)
	for _, p := range s.Properties {
		references(p, found)
	}
}

// of returns the name of a root's schema.
func (s *schemas) of(d *declared) (string, bool) {
	if s == nil {
		return "", false
	}
	name, ok := s.roots[d]
	return name, ok
}

var untyped, deduced = "__untyped_atomic_", "__untyped_deduced_"

// anything is the structure of a value of which nothing is known but that its parts belong to whoever applies them.
func anything() schema.Atom {
	scalar := schema.Scalar("untyped")
	return schema.Atom{
		Scalar: &scalar,
		List:   &schema.List{ElementType: schema.TypeRef{NamedType: &untyped}, ElementRelationship: schema.Atomic},
		Map:    &schema.Map{ElementType: schema.TypeRef{NamedType: &deduced}, ElementRelationship: schema.Separable},
	}
}

// yaml writes the schemas of the roots, of what they mention, and of values without a schema.
func (s *schemas) yaml() string {
	defs := map[string]schema.TypeDef{}
	var add func(name string)
	add = func(name string) {
		if _, done := defs[name]; done {
			return
		}
		defs[name] = schema.TypeDef{Name: name}
		t, known := s.types[name]
		if !known {
			defs[name] = schema.TypeDef{Name: name, Atom: anything()}
			return
		}
		defs[name] = schema.TypeDef{Name: name, Atom: atom(t.schema)}
		references(t.schema, func(pkg, name string) { add(schemaName(pkg, name)) })
	}
	var out schema.Schema
	if s != nil {
		for _, name := range s.roots {
			add(name)
		}
	}
	for _, def := range defs {
		if def.Scalar != nil || def.List != nil || def.Map != nil {
			out.Types = append(out.Types, def)
		}
	}
	slices.SortFunc(out.Types, func(a, b schema.TypeDef) int { return strings.Compare(a.Name, b.Name) })
	atomic := anything()
	atomic.Map = &schema.Map{ElementType: schema.TypeRef{NamedType: &untyped}, ElementRelationship: schema.Atomic}
	out.Types = append(out.Types, schema.TypeDef{Name: untyped, Atom: atomic}, schema.TypeDef{Name: deduced, Atom: anything()})
	data, err := yaml.Marshal(&out)
	if err != nil {
		panic(err) // a tree of strings
	}
	return string(data)
}

// atom is the structure of a schema that is no reference.
func atom(s *crd.Schema) schema.Atom {
	if _, _, refers := s.Refers(); refers {
		return schema.Atom{}
	}
	switch {
	case len(s.Properties) > 0 && (s.Type == "object" || s.Type == ""):
		m := &schema.Map{ElementRelationship: relationship(s.MapType)}
		for name, p := range s.Properties {
			f := schema.StructField{Name: name, Type: typeRef(p)}
			if p.Default != nil {
				f.Default = asYAML(p.Default.V)
			}
			m.Fields = append(m.Fields, f)
		}
		slices.SortFunc(m.Fields, func(a, b schema.StructField) int { return strings.Compare(a.Name, b.Name) })
		if s.PreserveUnknownFields != nil && *s.PreserveUnknownFields {
			m.ElementType = schema.TypeRef{NamedType: &deduced}
		}
		return schema.Atom{Map: m}
	case s.Type == "":
		return anything()
	case s.Type == "object":
		value := schema.TypeRef{Inlined: anything()}
		if s.AdditionalProperties != nil {
			value = typeRef(s.AdditionalProperties)
		}
		return schema.Atom{Map: &schema.Map{ElementType: value, ElementRelationship: relationship(s.MapType)}}
	case s.Type == "array":
		l := &schema.List{ElementType: schema.TypeRef{NamedType: &untyped}, ElementRelationship: schema.Atomic}
		if s.Items != nil {
			l.ElementType = typeRef(s.Items)
		}
		switch s.ListType {
		case "set":
			l.ElementRelationship = schema.Associative
		case "map":
			l.ElementRelationship, l.Keys = schema.Associative, s.ListMapKeys
		}
		return schema.Atom{List: l}
	}
	return schema.Atom{Scalar: new(scalar(s.Type, s.Format))}
}

// asYAML is a default as the peer reads it back: by way of YAML, where some words are truth values. It is a copy.
func asYAML(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return v
	}
	return readWords(generate.Plain(tree))
}

func readWords(v any) any {
	switch v := v.(type) {
	case string:
		switch v {
		case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
			return true
		case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
			return false
		}
	case []any:
		for i := range v {
			v[i] = readWords(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = readWords(v[key])
		}
	}
	return v
}

func scalar(typ, format string) schema.Scalar {
	switch {
	case typ == "integer" || typ == "number":
		return schema.Numeric
	case typ == "boolean":
		return schema.Boolean
	case typ == "string" && (format == "" || format == "byte"):
		return schema.String
	}
	return "untyped"
}

// typeRef is what stands for a schema where it is used: its name, or where it has none its structure.
func typeRef(s *crd.Schema) schema.TypeRef {
	pkg, name, ok := s.Refers()
	switch {
	case !ok:
		return schema.TypeRef{Inlined: atom(s)}
	case pkg == runtimePackage && name == "RawExtension":
		return schema.TypeRef{NamedType: &untyped}
	}
	named := schemaName(pkg, name)
	ref := schema.TypeRef{NamedType: &named}
	if r := relationship(s.MapType); r != "" {
		ref.ElementRelationship = &r
	}
	return ref
}

func relationship(mapType string) schema.ElementRelationship {
	switch mapType {
	case "atomic":
		return schema.Atomic
	case "granular":
		return schema.Separable
	}
	return ""
}
