package crd

import (
	"go/ast"
	"go/types"
)

// genericSchema makes the schema of a generic type with its arguments. It is made anew for every use, with the arguments' schemas in the places
// of the parameters. controller-gen has no schema for such types.
func (b *builder) genericSchema(at scope, expr ast.Expr) *Schema {
	var generic ast.Expr
	var args []ast.Expr
	switch e := expr.(type) {
	case *ast.IndexExpr:
		generic, args = e.X, []ast.Expr{e.Index}
	case *ast.IndexListExpr:
		generic, args = e.X, e.Indices
	}
	pkg, name := b.named(at, generic)
	if pkg == nil {
		return &Schema{}
	}
	info := b.in.Markers.Type(pkg, name)
	inner := scope{pkg: pkg, file: info.Decl.File, params: map[string]argument{}}
	if list := info.Decl.Spec.TypeParams; list != nil {
		for _, field := range list.List {
			for _, param := range field.Names {
				if len(args) == 0 {
					break
				}
				inner.params[param.Name] = argument{at, args[0]}
				args = args[1:]
			}
		}
	}
	text := types.ExprString(expr)
	if b.instances[text] > maxInstances {
		b.mistake(at.pkg, expr.Pos(), int(expr.End()-expr.Pos()), "break the circle with a field of type runtime.RawExtension", "%s contains itself, which no schema of the API server can say", text)
		return &Schema{}
	}
	b.instances[text]++
	defer func() { b.instances[text]-- }()
	return b.declaredSchema(inner, info).clone()
}

// maxInstances is how deep the same instance may be within itself before that is taken for a circle: Pair[Pair[int]] is none.
const maxInstances = 8
