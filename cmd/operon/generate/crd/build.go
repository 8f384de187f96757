package crd

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/diag"
	"github.com/operon-dev/operon/cmd/operon/generate/load"
	"github.com/operon-dev/operon/cmd/operon/generate/marker"
)

// builder makes the schemas of types.
type builder struct {
	in   *generate.Input
	opts *Generator
	// shallow leaves references to declared types as they are.
	shallow bool

	types map[*load.Package]map[string]*built
	// instances counts the generic types that are being made.
	instances map[string]int
}

// built is a type's schema, flat.
type built struct {
	schema *Schema
	busy   bool
}

// scope is where a type expression stands.
type scope struct {
	pkg  *load.Package
	file *ast.File
	// params are the arguments of the generic type whose declaration it is in, by the names of its parameters.
	params map[string]argument
}

// argument is a type expression, and where that stands.
type argument struct {
	at   scope
	expr ast.Expr
}

// argument is what a type parameter stands for.
func (at scope) argument(expr ast.Expr) (argument, bool) {
	id, ok := expr.(*ast.Ident)
	if !ok {
		return argument{}, false
	}
	arg, ok := at.params[id.Name]
	return arg, ok
}

func newBuilder(in *generate.Input, opts *Generator) *builder {
	return &builder{in: in, opts: opts, types: map[*load.Package]map[string]*built{}, instances: map[string]int{}}
}

func (b *builder) mistake(pkg *load.Package, pos token.Pos, length int, fix, format string, args ...any) {
	b.in.Mistakes.Add(diag.Mistake{Pos: pkg.Fset().Position(pos), Len: length, What: fmt.Sprintf(format, args...), Fix: fix})
}

// typeSchema returns the flat schema of a declared type. It must not be changed.
func (b *builder) typeSchema(pkg *load.Package, name string) *Schema {
	if b.types[pkg] == nil {
		b.types[pkg] = map[string]*built{}
	}
	if done := b.types[pkg][name]; done != nil {
		if done.busy {
			if decl := pkg.Lookup(name); decl != nil {
				b.mistake(pkg, decl.Spec.Name.Pos(), len(name), "break the circle with a field of type runtime.RawExtension or +kubebuilder:validation:Schemaless",
					"type %s contains itself, which no schema of the API server can say", name)
			}
			return &Schema{}
		}
		return done.schema
	}
	result := &built{busy: true}
	b.types[pkg][name] = result
	result.schema = b.makeType(pkg, name)
	result.busy = false
	return result.schema
}

func (b *builder) makeType(pkg *load.Package, name string) *Schema {
	if known, ok := b.known(pkg, name); ok {
		return known
	}
	info := b.in.Markers.Type(pkg, name)
	if info == nil {
		return &Schema{}
	}
	return b.declaredSchema(scope{pkg: pkg, file: info.Decl.File}, info)
}

// declaredSchema makes the schema of a type declaration, whose parameters, if it has any, the scope knows.
func (b *builder) declaredSchema(at scope, info *marker.Type) *Schema {
	pkg := at.pkg
	if b.encodes(at, info.Decl, "MarshalJSON") {
		// Such a type may encode as anything: its markers say what, or else its fields are believed.
		s := &Schema{}
		b.applyType(s, info)
		if s.Type != "" {
			s.from = []*origin{originOfType(info)}
			return s
		}
	} else if b.encodes(at, info.Decl, "MarshalText") {
		s := &Schema{Type: "string"}
		b.applyType(s, info)
		s.from = []*origin{originOfType(info)}
		return s
	}
	var s *Schema
	var rules []Rule
	if st, ok := info.Decl.Spec.Type.(*ast.StructType); ok {
		s, rules = b.structSchema(at, info, st)
	} else {
		s = b.exprSchema(at, info.Decl.Spec.Type)
	}
	if info.Doc != "" {
		s.Description = describe(info.Doc)
	}
	b.applyType(s, info)
	s = b.flatten(s, pkg, info.Decl.Spec.Name.Pos())
	if pkg.Root && !b.shallow {
		b.doubtSchema(s, originOfType(info), info.Markers)
	}
	s.Validations = slices.Concat(s.Validations, rules)
	s.from = append([]*origin{originOfType(info)}, s.from...)
	return s
}

func (b *builder) known(pkg *load.Package, name string) (*Schema, bool) {
	at := typeName{unvendored(pkg.Path), name}
	if b.shallow && at == (typeName{metaPackage, "ObjectMeta"}) {
		return nil, false
	}
	if b.opts.GenerateEmbeddedObjectMeta != nil && *b.opts.GenerateEmbeddedObjectMeta && at == (typeName{metaPackage, "ObjectMeta"}) {
		s := embeddedMetadata()
		return &s, true
	}
	known, ok := knownTypes[at]
	return &known, ok
}

func unvendored(path string) string {
	if i := strings.LastIndex(path, "/vendor/"); i >= 0 {
		return path[i+len("/vendor/"):]
	}
	return path
}

// encodes reports whether a type has the method, itself or by embedding.
func (b *builder) encodes(at scope, decl *load.Decl, method string) bool {
	if at.pkg.HasMethod(decl.Spec.Name.Name, method) {
		return true
	}
	switch t := decl.Spec.Type.(type) {
	case *ast.StructType:
		for _, field := range t.Fields.List {
			if len(field.Names) > 0 {
				continue
			}
			if pkg, name := b.named(at, field.Type); pkg != nil {
				if embedded := pkg.Lookup(name); embedded != nil && b.encodes(scope{pkg: pkg, file: embedded.File}, embedded, method) {
					return true
				}
			}
		}
	case *ast.Ident, *ast.SelectorExpr:
		if decl.Spec.Assign.IsValid() {
			if pkg, name := b.named(at, t); pkg != nil {
				if aliased := pkg.Lookup(name); aliased != nil {
					return b.encodes(scope{pkg: pkg, file: aliased.File}, aliased, method)
				}
			}
		}
	}
	return false
}

// named resolves an expression that names a declared type, through pointers and aliases. The package is nil for others.
func (b *builder) named(at scope, expr ast.Expr) (*load.Package, string) {
	for range 100 {
		if arg, ok := at.argument(expr); ok {
			at, expr = arg.at, arg.expr
			continue
		}
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
			continue
		case *ast.ParenExpr:
			expr = e.X
			continue
		}
		pkg, name := b.resolve(at, expr)
		if pkg == nil {
			return nil, ""
		}
		decl := pkg.Lookup(name)
		if decl == nil || !decl.Spec.Assign.IsValid() {
			return pkg, name
		}
		at, expr = scope{pkg: pkg, file: decl.File}, decl.Spec.Type
		switch expr.(type) {
		case *ast.Ident, *ast.SelectorExpr:
		default:
			return pkg, name
		}
		if id, ok := expr.(*ast.Ident); ok && pkg.Lookup(id.Name) == nil {
			return pkg, name
		}
	}
	return nil, ""
}

// referred resolves an expression to the declaration that a schema comes from. An alias that another package declares is one of its own, with its
// comment and markers; those of an alias in the same package do not count. So it is in the peer.
func (b *builder) referred(at scope, expr ast.Expr) (*load.Package, string) {
	if _, other := expr.(*ast.SelectorExpr); other && !b.shallow {
		return b.resolve(at, expr)
	}
	return b.named(at, expr)
}

// resolve tells the package and the name that an identifier or selector stands for.
func (b *builder) resolve(at scope, expr ast.Expr) (*load.Package, string) {
	switch e := expr.(type) {
	case *ast.Ident:
		if at.pkg.Lookup(e.Name) != nil {
			return at.pkg, e.Name
		}
		for _, spec := range at.file.Imports {
			if spec.Name == nil || spec.Name.Name != "." {
				continue
			}
			if path, ok := at.pkg.ImportOf(at.file, "."); ok {
				if pkg, err := at.pkg.Import(path); err == nil && pkg.Lookup(e.Name) != nil {
					return pkg, e.Name
				}
			}
		}
	case *ast.SelectorExpr:
		qualifier, ok := e.X.(*ast.Ident)
		if !ok {
			return nil, ""
		}
		path, ok := at.pkg.ImportOf(at.file, qualifier.Name)
		if !ok {
			b.mistake(at.pkg, e.Pos(), len(qualifier.Name), "import it", "no import is called %s", qualifier.Name)
			return nil, ""
		}
		pkg, err := at.pkg.Import(path)
		if err != nil {
			b.mistake(at.pkg, e.Pos(), len(qualifier.Name)+1+len(e.Sel.Name), "", "%v", err)
			return nil, ""
		}
		if pkg.Lookup(e.Sel.Name) == nil {
			b.mistake(at.pkg, e.Pos(), len(qualifier.Name)+1+len(e.Sel.Name), "", "undefined: package %s has no type %s", path, e.Sel.Name)
			return nil, ""
		}
		return pkg, e.Sel.Name
	}
	return nil, ""
}

// exprSchema makes the schema of a type expression. Declared types are left as references.
func (b *builder) exprSchema(at scope, expr ast.Expr) *Schema {
	if arg, ok := at.argument(expr); ok {
		return b.exprSchema(arg.at, arg.expr)
	}
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return b.exprSchema(at, e.X)
	case *ast.StarExpr:
		return b.exprSchema(at, e.X)
	case *ast.ArrayType:
		if id, ok := e.Elt.(*ast.Ident); ok && id.Name == "byte" && at.pkg.Lookup("byte") == nil {
			return &Schema{Type: "string", Format: "byte"}
		}
		return &Schema{Type: "array", Items: b.exprSchema(at, e.Elt)}
	case *ast.MapType:
		return b.mapSchema(at, e)
	case *ast.Ident, *ast.SelectorExpr:
		return b.namedSchema(at, expr)
	case *ast.IndexExpr, *ast.IndexListExpr:
		return b.genericSchema(at, expr)
	case *ast.StructType:
		b.mistake(at.pkg, e.Pos(), len("struct"), "declare a type of its own for it, so that it can be named", "a struct written out in place has no schema")
	case *ast.InterfaceType:
		b.mistake(at.pkg, e.Pos(), len("interface"), "use apiextensionsv1.JSON for any value, runtime.RawExtension for any object", "an interface has no schema")
	case *ast.ChanType:
		b.mistake(at.pkg, e.Pos(), len("chan"), "leave the field out with `json:\"-\"`", "a channel has no schema")
	case *ast.FuncType:
		b.mistake(at.pkg, e.Pos(), len("func"), "leave the field out with `json:\"-\"`", "a function has no schema")
	default:
		b.mistake(at.pkg, expr.Pos(), int(expr.End()-expr.Pos()), "", "this kind of type has no schema")
	}
	return &Schema{}
}

func (b *builder) mapSchema(at scope, e *ast.MapType) *Schema {
	key := b.basicUnder(at, e.Key)
	if key != "string" && !b.textKey(at, e.Key) {
		if key == "" {
			key = "a type that is none"
		}
		b.mistake(at.pkg, e.Key.Pos(), int(e.Key.End()-e.Key.Pos()), "use a string, or a type made from string, or a list of objects with +listType=map",
			"keys of maps are strings in JSON, this one is %s", key)
		return &Schema{}
	}
	return &Schema{Type: "object", AdditionalProperties: b.exprSchema(at, e.Value)}
}

func (b *builder) textKey(at scope, key ast.Expr) bool {
	pkg, name := b.named(at, key)
	if pkg == nil {
		return false
	}
	decl := pkg.Lookup(name)
	return decl != nil && b.encodes(scope{pkg: pkg, file: decl.File}, decl, "MarshalText")
}

// namedSchema makes the schema of a basic type, or refers to a declared one.
func (b *builder) namedSchema(at scope, expr ast.Expr) *Schema {
	if pkg, name := b.referred(at, expr); pkg != nil {
		s := &Schema{ref: &typeName{pkg.Path, name}}
		if _, known := b.known(pkg, name); known {
			return s
		}
		if decl := pkg.Lookup(name); decl != nil && !b.encodes(scope{pkg: pkg, file: decl.File}, decl, "MarshalText") {
			s.Type = b.kindOf(scope{pkg: pkg, file: decl.File}, decl.Spec.Type)
		}
		return s
	}
	id, ok := expr.(*ast.Ident)
	if !ok {
		return &Schema{} // resolve has complained
	}
	typ, format, ok := basicSchema(id.Name)
	switch {
	case ok:
	case id.Name == "any" || id.Name == "error":
		b.mistake(at.pkg, id.Pos(), len(id.Name), "use apiextensionsv1.JSON for any value, runtime.RawExtension for any object", "an interface has no schema")
		return &Schema{}
	case types.Universe.Lookup(id.Name) != nil:
		b.mistake(at.pkg, id.Pos(), len(id.Name), "use a string, or leave the field out with `json:\"-\"`", "%s has no schema", id.Name)
		return &Schema{}
	default:
		b.mistake(at.pkg, id.Pos(), len(id.Name), "", "undefined: no type is called %s", id.Name)
		return &Schema{}
	}
	if typ == "number" && (b.opts.AllowDangerousTypes == nil || !*b.opts.AllowDangerousTypes) {
		b.mistake(at.pkg, id.Pos(), len(id.Name), "use a string or resource.Quantity, or allow it with crd:allowDangerousTypes=true",
			"languages disagree about %s", id.Name)
	}
	return &Schema{Type: typ, Format: format}
}

// basicSchema tells the type and format for a basic type of Go.
func basicSchema(name string) (typ, format string, ok bool) {
	switch name {
	case "string":
		return "string", "", true
	case "bool":
		return "boolean", "", true
	case "int", "int8", "int16", "uint", "uint8", "uint16", "byte", "uintptr":
		return "integer", "", true
	case "int32", "uint32", "rune":
		return "integer", "int32", true
	case "int64", "uint64":
		return "integer", "int64", true
	case "float32", "float64":
		return "number", "", true
	}
	return "", "", false
}

// kindOf tells the type in JSON of what a declared type is made from, "" for a struct and where it has none.
func (b *builder) kindOf(at scope, expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return b.kindOf(at, e.X)
	case *ast.StarExpr:
		return ""
	case *ast.ArrayType:
		if id, ok := e.Elt.(*ast.Ident); ok && id.Name == "byte" {
			return "string"
		}
		return "array"
	case *ast.MapType:
		return "object"
	case *ast.Ident, *ast.SelectorExpr:
		if pkg, name := b.named(at, expr); pkg != nil {
			if decl := pkg.Lookup(name); decl != nil {
				return b.kindOf(scope{pkg: pkg, file: decl.File}, decl.Spec.Type)
			}
			return ""
		}
		if id, ok := expr.(*ast.Ident); ok {
			typ, _, _ := basicSchema(id.Name)
			return typ
		}
	}
	return ""
}

// basicUnder names the basic Go type that an expression comes down to, "" for others.
func (b *builder) basicUnder(at scope, expr ast.Expr) string {
	if arg, ok := at.argument(expr); ok {
		return b.basicUnder(arg.at, arg.expr)
	}
	if pkg, name := b.named(at, expr); pkg != nil {
		if decl := pkg.Lookup(name); decl != nil {
			return b.basicUnder(scope{pkg: pkg, file: decl.File}, decl.Spec.Type)
		}
		return ""
	}
	if id, ok := expr.(*ast.Ident); ok {
		if _, _, basic := basicSchema(id.Name); basic {
			return id.Name
		}
	}
	return ""
}

// flatten replaces the reference in a schema by what it refers to. Parts are flat already, but for the items of arrays and values of maps.
func (b *builder) flatten(s *Schema, pkg *load.Package, pos token.Pos) *Schema {
	if b.shallow && s.base == nil {
		return s
	}
	if s.Items != nil {
		s.Items = b.flatten(s.Items, pkg, pos)
	}
	if s.AdditionalProperties != nil {
		s.AdditionalProperties = b.flatten(s.AdditionalProperties, pkg, pos)
	}
	if s.base != nil {
		return b.overlay(s, s.base, pkg, pos)
	}
	return b.resolved(s, pkg, pos)
}

// resolved lays what a schema says over what it refers to.
func (b *builder) resolved(s *Schema, pkg *load.Package, pos token.Pos) *Schema {
	if s.ref == nil {
		return s
	}
	target := b.target(pkg, *s.ref)
	if target == nil {
		return s
	}
	base := target.clone()
	return b.overlay(s, base, pkg, pos)
}

// overlay lays what a schema says itself over what it refers to: what it says to readers counts, its bounds add to the others.
func (b *builder) overlay(s, base *Schema, pkg *load.Package, pos token.Pos) *Schema {
	own := *s
	own.ref, own.base, own.overrides, own.notEmpty = nil, nil, false, false
	if s.notEmpty && base.MinProperties != nil {
		own.MinProperties = nil
	}
	if s.overrides {
		yield(base, &own)
	}
	said := own
	own.Description, own.Title, own.ExternalDocs, own.Example = "", "", nil, nil
	own.Validations, own.ListType, own.MapType, own.ListMapKeys = nil, "", "", nil
	if err := merge(base, &own); err != nil {
		b.mistake(pkg, pos, 1, "", "%v", err)
	}
	override(&base.Description, said.Description)
	override(&base.Title, said.Title)
	override(&base.ListType, said.ListType)
	override(&base.MapType, said.MapType)
	if said.ExternalDocs != nil {
		base.ExternalDocs = said.ExternalDocs
	}
	if said.Example != nil {
		base.Example = said.Example
	}
	if len(said.ListMapKeys) > 0 {
		base.ListMapKeys = said.ListMapKeys
	}
	base.Validations = slices.Concat(said.Validations, base.Validations)
	return base
}

func override(dst *string, src string) {
	if src != "" {
		*dst = src
	}
}

// target is the schema of a type that was named from a package.
func (b *builder) target(from *load.Package, t typeName) *Schema {
	pkg := from
	if t.pkg != from.Path {
		var err error
		if pkg, err = from.Import(t.pkg); err != nil {
			return nil
		}
	}
	return b.typeSchema(pkg, t.name)
}

// applyType applies the markers of a type to its schema.
func (b *builder) applyType(s *Schema, info *marker.Type) {
	b.apply(s, info.Package, marker.OnType, info.Markers, info.Places, info)
}
