package load

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// KeptMethods are the names of the methods that checked types have. Generators ask for no others, and each method left out saves the
// types that its signature mentions; String, which protocol buffers declare on everything, would have large generated files parsed.
var KeptMethods = map[string]bool{
	"DeepCopy": true, "DeepCopyInto": true, "DeepCopyObject": true,
	"MarshalJSON": true, "UnmarshalJSON": true, "MarshalText": true, "UnmarshalText": true,
	"OpenAPISchemaType": true, "OpenAPISchemaFormat": true,
}

// Types returns the checked types of the package's declarations, and what was learned about its syntax. See [Check].
func (p *Package) Types() (*types.Package, *types.Info) {
	p.mu.Lock()
	checked := p.types != nil
	p.mu.Unlock()
	if !checked {
		Check(p)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.types, p.info
}

// Check type-checks packages of one module together, so that types which several of them import are the same. Packages checked by
// different calls have different types for what they import.
func Check(packages ...*Package) {
	for p, part := range checkSlice(packages) {
		p.mu.Lock()
		p.types, p.info, p.typeErr = part.types, part.info, part.mistakes
		p.mu.Unlock()
	}
}

// CheckApart is Check for a caller who compares types of several packages: what it returns, in the order of the packages, is not what
// [Package.Types] returns, which another caller's Check may replace. Mistakes are returned, too.
func CheckApart(packages ...*Package) ([]*types.Package, []diag.Mistake) {
	parts := checkSlice(packages)
	checked := make([]*types.Package, len(packages))
	var mistakes []diag.Mistake
	for i, p := range packages {
		checked[i] = parts[p].types
		mistakes = append(mistakes, parts[p].mistakes...)
	}
	return checked, mistakes
}

// checkSlice checks packages together.
func checkSlice(packages []*Package) map[*Package]*part {
	s := &slice{parts: map[*Package]*part{}}
	for _, p := range packages {
		s.addRoot(p)
	}
	for len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = s.queue[1:]
		next()
	}
	checked := map[*Package]*part{}
	for _, p := range packages {
		checked[p] = s.check(p)
	}
	return checked
}

// slice is the set of declarations that some packages' types mention.
type slice struct {
	parts map[*Package]*part
	queue []func()
}

// part is what the slice takes of a package.
type part struct {
	pkg   *Package
	root  bool
	names map[string]bool                        // asked for
	taken map[ast.Decl]bool                      // all of decls
	decls map[*ast.File][]ast.Decl               // taken, by file
	uses  map[*ast.File]map[*ast.ImportSpec]bool // imports that the taken ones need

	checking bool // not through yet
	types    *types.Package
	info     *types.Info // of roots
	mistakes []diag.Mistake
}

type object struct {
	file *ast.File
	decl ast.Decl
}

func (s *slice) partOf(p *Package) *part {
	if s.parts[p] == nil {
		s.parts[p] = &part{
			pkg: p, names: map[string]bool{},
			taken: map[ast.Decl]bool{}, decls: map[*ast.File][]ast.Decl{}, uses: map[*ast.File]map[*ast.ImportSpec]bool{},
		}
	}
	return s.parts[p]
}

// addRoot takes all types and constants of a package.
func (s *slice) addRoot(p *Package) {
	part := s.partOf(p)
	part.root = true
	for _, file := range p.Syntax() {
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.GenDecl:
				if d.Tok == token.TYPE || d.Tok == token.CONST {
					s.take(part, file, d)
				}
			case *ast.FuncDecl:
				if d.Recv != nil && KeptMethods[d.Name.Name] {
					s.take(part, file, d)
				}
			}
		}
	}
}

// want takes the declaration of a package-level name, and the kept methods where it is a type.
func (s *slice) want(p *Package, name string) {
	part := s.partOf(p)
	if part.names[name] {
		return
	}
	part.names[name] = true
	if !part.root {
		if d := p.Lookup(name); d != nil {
			s.takeSpec(part, d)
			s.takeMethods(part, name)
			return
		}
	}
	if obj, ok := part.object(name); ok {
		s.take(part, obj.file, obj.decl)
	}
}

func (s *slice) takeSpec(part *part, d *Decl) {
	decl := ast.Decl(d.Gen)
	if len(d.Gen.Specs) > 1 {
		decl = &ast.GenDecl{TokPos: d.Gen.TokPos, Tok: token.TYPE, Specs: []ast.Spec{d.Spec}}
	}
	s.take(part, d.File, decl)
}

func (s *slice) takeMethods(part *part, name string) {
	for _, f := range part.pkg.files {
		if !f.scan().methods[name] {
			continue
		}
		file, _ := f.Syntax(part.pkg.Fset())
		if file == nil {
			continue
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && KeptMethods[fn.Name.Name] && receiverName(fn) == name {
				s.take(part, file, fn)
			}
		}
	}
}

// object finds a constant, variable or function of the package.
func (part *part) object(name string) (object, bool) {
	for _, f := range part.pkg.files {
		if !f.scan().objects[name] {
			continue
		}
		file, _ := f.Syntax(part.pkg.Fset())
		if file == nil {
			continue
		}
		for _, decl := range file.Decls {
			if declares(decl, name) {
				return object{file, decl}, true
			}
		}
	}
	return object{}, false
}

func declares(decl ast.Decl, name string) bool {
	switch d := decl.(type) {
	case *ast.GenDecl:
		return slices.ContainsFunc(d.Specs, func(spec ast.Spec) bool {
			v, ok := spec.(*ast.ValueSpec)
			return ok && slices.ContainsFunc(v.Names, func(n *ast.Ident) bool { return n.Name == name })
		})
	case *ast.FuncDecl:
		return d.Recv == nil && d.Name.Name == name
	}
	return false
}

func (s *slice) take(part *part, file *ast.File, decl ast.Decl) {
	if part.taken[decl] {
		return
	}
	part.taken[decl] = true
	part.decls[file] = append(part.decls[file], decl)
	s.queue = append(s.queue, func() { s.follow(part, file, decl, typeParameters(decl)) })
}

// follow wants everything that a declaration mentions.
func (s *slice) follow(part *part, file *ast.File, decl ast.Node, except map[string]bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			return false
		case *ast.Field:
			// The names of fields and parameters mention nothing.
			ast.Inspect(n.Type, func(inner ast.Node) bool {
				if inner != nil {
					s.follow(part, file, inner, except)
				}
				return false
			})
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				s.followImport(part, file, x.Name, n.Sel.Name)
				return false
			}
		case *ast.Ident:
			if !except[n.Name] && !s.followDotImport(part, file, n.Name) {
				s.want(part.pkg, n.Name)
			}
		}
		return true
	})
}

// typeParameters names the type parameters in a declaration.
func typeParameters(decl ast.Decl) map[string]bool {
	names := map[string]bool{}
	add := func(list *ast.FieldList) {
		if list == nil {
			return
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				names[name.Name] = true
			}
		}
	}
	switch d := decl.(type) {
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok {
				add(t.TypeParams)
			}
		}
	case *ast.FuncDecl:
		add(d.Type.TypeParams)
		if d.Recv != nil && len(d.Recv.List) > 0 {
			ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
				// Of the receiver T[P, Q] both, and T, which is taken already.
				if id, ok := n.(*ast.Ident); ok {
					names[id.Name] = true
				}
				return true
			})
		}
	}
	return names
}

func (s *slice) followImport(part *part, file *ast.File, qualifier, name string) {
	path, ok := part.pkg.ImportOf(file, qualifier)
	if !ok {
		// A field of a local value.
		s.want(part.pkg, qualifier)
		return
	}
	if part.uses[file] == nil {
		part.uses[file] = map[*ast.ImportSpec]bool{}
	}
	for _, spec := range file.Imports {
		if importPath(spec) == path {
			part.uses[file][spec] = true
		}
	}
	if path == "unsafe" || path == "C" {
		return
	}
	if dep, err := part.pkg.Import(path); err == nil {
		s.want(dep, name)
	}
}

// followDotImport wants a name of a package whose names the file has for its own, and reports whether it is one.
func (s *slice) followDotImport(part *part, file *ast.File, name string) bool {
	for _, spec := range file.Imports {
		if spec.Name == nil || spec.Name.Name != "." || !token.IsExported(name) || part.declares(name) {
			continue
		}
		dep, err := part.pkg.Import(importPath(spec))
		if err != nil || !s.partOf(dep).declares(name) {
			continue
		}
		s.want(dep, name)
		if part.uses[file] == nil {
			part.uses[file] = map[*ast.ImportSpec]bool{}
		}
		part.uses[file][spec] = true
		return true
	}
	return false
}

// declares reports whether the package has a type, constant, variable or function of the name.
func (part *part) declares(name string) bool {
	if part.pkg.Lookup(name) != nil {
		return true
	}
	_, ok := part.object(name)
	return ok
}

// check type-checks the slice's part of a package, after those that it imports.
func (s *slice) check(p *Package) *part {
	part := s.partOf(p)
	if part.types != nil {
		return part
	}
	if part.root {
		part.info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		}
	}
	conf := types.Config{
		IgnoreFuncBodies: true,
		FakeImportC:      true,
		Importer:         importerFunc(func(path string) (*types.Package, error) { return s.importFor(p, path) }),
		Error: func(err error) {
			var e types.Error
			if part.root && errors.As(err, &e) && !ignorable(e) && !part.inConstant(e.Pos) {
				part.mistakes = append(part.mistakes, diag.Mistake{Pos: e.Fset.Position(e.Pos), What: e.Msg})
			}
		},
	}
	part.checking = true
	defer func() { part.checking = false }()
	// The error is the first of those handed to Error.
	part.types, _ = conf.Check(p.Path, p.Fset(), part.pruned(), part.info)
	return part
}

// ignorable errors come from what was left out of the slice.
func ignorable(e types.Error) bool {
	// What begins with a tab goes on with the error before.
	return e.Soft || strings.HasPrefix(e.Msg, "\t") || strings.Contains(e.Msg, "imported and not used") || strings.HasPrefix(e.Msg, "could not import C")
}

// inConstant reports whether a position is in the declaration of a constant. What is wrong there is left to the compiler: the name that
// is missing may be in a file that another generator writes.
func (part *part) inConstant(pos token.Pos) bool {
	for _, decls := range part.decls {
		for _, decl := range decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.CONST && gen.Pos() <= pos && pos < gen.End() {
				return true
			}
		}
	}
	return false
}

// pruned is the part's files with nothing in them but what was taken.
func (part *part) pruned() []*ast.File {
	var out []*ast.File
	for _, file := range part.pkg.parsedFiles() {
		if len(part.decls[file]) == 0 {
			continue
		}
		imports := &ast.GenDecl{Tok: token.IMPORT, TokPos: file.Name.End()}
		for _, spec := range file.Imports {
			if part.uses[file][spec] {
				imports.Specs = append(imports.Specs, spec)
			}
		}
		pruned := &ast.File{Name: file.Name, Package: file.Package, GoVersion: file.GoVersion, FileStart: file.FileStart, FileEnd: file.FileEnd}
		if len(imports.Specs) > 0 {
			pruned.Decls = append(pruned.Decls, imports)
		}
		pruned.Decls = append(pruned.Decls, part.decls[file]...)
		out = append(out, pruned)
	}
	return out
}

func (s *slice) importFor(from *Package, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	dep, err := from.Import(path)
	if err != nil {
		return nil, err
	}
	if s.partOf(dep).checking {
		return nil, fmt.Errorf("import cycle: %s imports %s, directly or by way of others", path, from.Path)
	}
	return s.check(dep).types, nil
}

type importerFunc func(path string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }
