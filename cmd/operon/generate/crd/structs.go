package crd

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// structSchema makes the schema of a struct, and rules that are to follow all others of it. What it embeds becomes its base.
func (b *builder) structSchema(at scope, info *marker.Type, st *ast.StructType) (*Schema, []Rule) {
	var rules []Rule
	own := &Schema{Type: "object", Properties: map[string]*Schema{}}
	var embedded []*Schema
	optional := b.optionalByDefault(at.pkg)
	for i := range info.Fields {
		f := &info.Fields[i]
		name, options, tagged := jsonName(f)
		if !tagged {
			b.untagged(at.pkg, info, f)
			continue
		}
		b.doubtTag(at.pkg, f, name, options)
		if name == "-" && options == nil {
			continue
		}
		if name == "" || slices.Contains(options, "inline") {
			if base := b.inlined(at, f); base != nil {
				embedded = append(embedded, base)
			}
			continue
		}
		p := b.property(at, f)
		if !isOptional(f, options, optional) {
			own.Required = append(own.Required, name)
		} else if f.Markers.Has("k8s:immutable") {
			rule := staysSet(name)
			rule.at = ruleOrigin(at.pkg, f.Places["k8s:immutable"][0])
			rules = append(rules, rule)
		}
		if own.Properties[name] != nil {
			b.doubtField(at.pkg, f, "give it another", "%s has another field with the json name %q, so that Go leaves out both", info.Name, name)
		}
		b.contradiction(at.pkg, f)
		own.Properties[name] = p
	}
	own.Required = union(own.Required, nil)
	if len(embedded) == 0 {
		return own, rules
	}
	base := embedded[0].clone()
	for _, s := range embedded[1:] {
		if err := merge(base, s); err != nil {
			b.mistake(at.pkg, st.Pos(), len("struct"), "", "what %s embeds does not go together: %v", info.Name, err)
		}
	}
	base.Description = ""
	own.base = base
	return own, rules
}

// contradiction records a field that is marked both as optional and as required.
func (b *builder) contradiction(pkg *load.Package, f *marker.Field) {
	var first string
	for _, m := range requiredMarkers {
		switch {
		case !f.Markers.Has(m.name):
		case first == "":
			first = m.name
		case isOptional(f, nil, false) != m.optional:
			b.doubtField(pkg, f, "leave one of them", "the field has +%s and +%s, of which the first counts", first, m.name)
			return
		}
	}
}

// doubtField records what is probably wrong with a field of a root package.
func (b *builder) doubtField(pkg *load.Package, f *marker.Field, fix, format string, args ...any) {
	if pkg.Root && !b.shallow {
		b.in.Doubt(diag.Mistake{Pos: pkg.Fset().Position(f.Raw.Pos()), Len: max(1, len(f.Name)), What: fmt.Sprintf(format, args...), Fix: fix})
	}
}

// staysSet is the rule that a property, once it is there, does not go away.
func staysSet(name string) Rule {
	return Rule{
		Rule:    "!has(oldSelf." + name + ") || has(self." + name + ")",
		Message: "field " + name + " is immutable once set",
	}
}

// jsonName splits the json tag of a field. A name of "-" leaves the field out, unless options follow it.
func jsonName(f *marker.Field) (name string, options []string, tagged bool) {
	tag, tagged := f.Tag.Lookup("json")
	if !tagged {
		return "", nil, false
	}
	name, rest, more := strings.Cut(tag, ",")
	if more {
		options = strings.Split(rest, ",")
	}
	return name, options, true
}

func (b *builder) untagged(pkg *load.Package, info *marker.Type, f *marker.Field) {
	if b.opts.IgnoreUnexportedFields != nil && *b.opts.IgnoreUnexportedFields && f.Name != "" && !ast.IsExported(f.Name) {
		return
	}
	if f.Name == "" {
		b.mistake(pkg, f.Raw.Pos(), int(f.Raw.Type.End()-f.Raw.Pos()), "add `json:\",inline\"`", "what %s embeds has no json tag", info.Name)
		return
	}
	if tag := f.Raw.Tag; tag != nil && strings.Contains(tag.Value, "json:") {
		b.mistake(pkg, tag.Pos(), len(tag.Value), "write `json:\""+lowerFirst(f.Name)+"\"`, without blanks, and one blank before the next tag",
			"Go finds no json tag of field %s here", f.Name)
		return
	}
	b.mistake(pkg, f.Raw.Pos(), len(f.Name), "add `json:\""+lowerFirst(f.Name)+"\"`, or `json:\"-\"` to leave it out",
		"field %s of %s has no json tag", f.Name, info.Name)
}

// doubtTag records a json tag that Go does not take as it was meant.
func (b *builder) doubtTag(pkg *load.Package, f *marker.Field, name string, options []string) {
	if f.Name != "" && !ast.IsExported(f.Name) && name != "-" {
		b.doubtField(pkg, f, "begin its name with a capital letter", "the field is not exported, so that it is in the schema and never in an object")
	}
	known := []string{"omitempty", "omitzero", "inline", "string"}
	for _, option := range options {
		if near := marker.Nearest(option, known); near != "" && !slices.Contains(known, option) {
			b.doubtField(pkg, f, fmt.Sprintf("did you mean %s?", near), "the json tag has no option %q", option)
		}
	}
}

func lowerFirst(name string) string {
	i := 1
	for i < len(name) && name[i] >= 'A' && name[i] <= 'Z' && (i+1 == len(name) || name[i+1] >= 'A' && name[i+1] <= 'Z') {
		i++
	}
	return strings.ToLower(name[:i]) + name[i:]
}

// inlined is the schema of an embedded field, or of one with the option inline.
func (b *builder) inlined(at scope, f *marker.Field) *Schema {
	s := b.exprSchema(at, f.Raw.Type)
	if b.shallow {
		return b.resolved(s, at.pkg, f.Raw.Pos())
	}
	return b.flatten(s, at.pkg, f.Raw.Pos())
}

func (b *builder) property(at scope, f *marker.Field) *Schema {
	p := &Schema{}
	if !f.Markers.Has("kubebuilder:validation:Schemaless") {
		p = b.exprSchema(at, f.Raw.Type)
	}
	if f.Doc != "" {
		p.Description = describe(f.Doc)
	}
	b.apply(p, at.pkg, marker.OnField, f.Markers, f.Places, nil)
	p = b.flatten(p, at.pkg, f.Raw.Pos())
	if b.shallow {
		return p
	}
	// What the struct embeds may have the same field.
	p.overrides = f.Markers.Has(overrideMarker)
	b.nestDefault(at.pkg, p, f)
	b.check(at.pkg, p, f)
	p.from = append([]*origin{originOfField(at.pkg, f)}, p.from...)
	return p
}

func (b *builder) optionalByDefault(pkg *load.Package) bool {
	return b.in.Markers.Package(pkg).Has("kubebuilder:validation:Optional")
}

// requiredMarkers tell whether a field is optional. Where a field has several, the first here counts.
var requiredMarkers = []struct {
	name     string
	optional bool
}{
	{"kubebuilder:validation:Optional", true},
	{"kubebuilder:validation:Required", false},
	{"optional", true},
	{"k8s:optional", true},
	{"required", false},
	{"k8s:required", false},
}

// isOptional decides in the order: what the field's markers say, what the package's say, what its json tag says.
func isOptional(f *marker.Field, options []string, byDefault bool) bool {
	for _, m := range requiredMarkers {
		if f.Markers.Has(m.name) {
			return m.optional
		}
	}
	return byDefault || slices.Contains(options, "omitempty") || slices.Contains(options, "omitzero")
}
