package conversion

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/load"
)

// handwritten is what the author of a package wrote for its conversions.
type handwritten struct {
	// functions are the names of the functions that convert, by the types that they convert from and to.
	functions map[[2]string]string
	// methods are those of types: "Type.Method".
	methods map[string]*ast.FuncDecl
}

// findHandwritten looks at the declarations of a package; generated files are not among them.
func findHandwritten(pkg *load.Package) *handwritten {
	h := &handwritten{functions: map[[2]string]string{}, methods: map[string]*ast.FuncDecl{}}
	for _, file := range pkg.Syntax() {
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if fn.Recv != nil {
				if name := receiver(fn); name != "" {
					h.methods[name+"."+fn.Name.Name] = fn
				}
				continue
			}
			if from, to, ok := converts(pkg, file, fn); ok {
				h.functions[[2]string{from, to}] = fn.Name.Name
			}
		}
	}
	return h
}

func receiver(fn *ast.FuncDecl) string {
	if len(fn.Recv.List) != 1 {
		return ""
	}
	expr := fn.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if id, ok := expr.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// converts tells the types that a function converts between, if it is one that does: func convert...(in *A, out *B) error.
func converts(pkg *load.Package, file *ast.File, fn *ast.FuncDecl) (from, to string, ok bool) {
	if !strings.HasPrefix(strings.ToLower(fn.Name.Name), "convert") || fn.Type.TypeParams != nil {
		return "", "", false
	}
	var params []ast.Expr
	for _, field := range fn.Type.Params.List {
		for range max(1, len(field.Names)) {
			params = append(params, field.Type)
		}
	}
	results := fn.Type.Results
	if len(params) != 2 || results == nil || len(results.List) != 1 || len(results.List[0].Names) > 1 {
		return "", "", false
	}
	if id, isIdent := results.List[0].Type.(*ast.Ident); !isIdent || id.Name != "error" {
		return "", "", false
	}
	var names [2]string
	for i, p := range params {
		star, isPointer := p.(*ast.StarExpr)
		if !isPointer {
			return "", "", false
		}
		if names[i] = spell(pkg, file, star.X); names[i] == "" {
			return "", "", false
		}
	}
	return names[0], names[1], true
}

// spell writes a type expression as typeKey writes the type: with import paths. It is empty for types that it does not know how to write.
func spell(pkg *load.Package, file *ast.File, expr ast.Expr) string {
	prefixed := func(prefix string, inner ast.Expr) string {
		if text := spell(pkg, file, inner); text != "" {
			return prefix + text
		}
		return ""
	}
	switch e := expr.(type) {
	case *ast.ParenExpr:
		return spell(pkg, file, e.X)
	case *ast.StarExpr:
		return prefixed("*", e.X)
	case *ast.ArrayType:
		if e.Len == nil {
			return prefixed("[]", e.Elt)
		}
	case *ast.MapType:
		if key := spell(pkg, file, e.Key); key != "" {
			return prefixed("map["+key+"]", e.Value)
		}
	case *ast.IndexExpr:
		return spellInstance(pkg, file, e.X, []ast.Expr{e.Index})
	case *ast.IndexListExpr:
		return spellInstance(pkg, file, e.X, e.Indices)
	case *ast.Ident:
		if decl := pkg.Lookup(e.Name); decl != nil {
			if decl.Spec.Assign.IsValid() {
				return spell(pkg, decl.File, decl.Spec.Type)
			}
			return pkg.Path + "." + e.Name
		}
		if obj, ok := types.Universe.Lookup(e.Name).(*types.TypeName); ok {
			return typeKey(obj.Type())
		}
	case *ast.SelectorExpr:
		qualifier, ok := e.X.(*ast.Ident)
		if !ok {
			return ""
		}
		path, ok := pkg.ImportOf(file, qualifier.Name)
		if !ok {
			return ""
		}
		if other, err := pkg.Import(path); err == nil {
			if decl := other.Lookup(e.Sel.Name); decl != nil && decl.Spec.Assign.IsValid() {
				return spell(other, decl.File, decl.Spec.Type)
			}
		}
		return path + "." + e.Sel.Name
	}
	return ""
}

// spellInstance is spell for a generic type with its arguments.
func spellInstance(pkg *load.Package, file *ast.File, generic ast.Expr, arguments []ast.Expr) string {
	name := spell(pkg, file, generic)
	var args []string
	for _, a := range arguments {
		args = append(args, spell(pkg, file, a))
	}
	if name == "" || slices.Contains(args, "") {
		return ""
	}
	return name + "[" + strings.Join(args, ",") + "]"
}

// typeKey writes a type with import paths.
func typeKey(t types.Type) string {
	return types.TypeString(unaliased(t), func(p *types.Package) string { return p.Path() })
}

// unaliased has no aliases in it, also where types are made of others.
func unaliased(t types.Type) types.Type {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return types.Typ[t.Kind()]
	case *types.Pointer:
		return types.NewPointer(unaliased(t.Elem()))
	case *types.Slice:
		return types.NewSlice(unaliased(t.Elem()))
	case *types.Map:
		return types.NewMap(unaliased(t.Key()), unaliased(t.Elem()))
	case *types.Named:
		if t.TypeArgs().Len() == 0 {
			return t
		}
		var args []types.Type
		for a := range t.TypeArgs().Types() {
			args = append(args, unaliased(a))
		}
		instance, err := types.Instantiate(nil, t.Origin(), args, false)
		if err != nil {
			return t
		}
		return instance
	default:
		return t
	}
}
