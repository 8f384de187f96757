package load

import (
	"bytes"
	"errors"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/cmd/operon/generate/diag"
)

// Package is one Go package.
type Package struct {
	// Path is its import path.
	Path string
	// Name is its name.
	Name string
	// Dir is its directory, absolute.
	Dir string
	// Root tells that a pattern named it; other packages are imported by roots.
	Root bool

	scope *scope
	files []*File

	lookup sync.Once
	decls  map[string]*Decl // of all files, once all are parsed

	mu      sync.Mutex
	types   *types.Package
	info    *types.Info
	typeErr []diag.Mistake
}

// Decl is the declaration of a type.
type Decl struct {
	Package *Package
	File    *ast.File
	// Gen is the declaration, which may hold several types in parentheses.
	Gen  *ast.GenDecl
	Spec *ast.TypeSpec
}

// Files returns the files that build constraints select, without tests, sorted by name.
func (p *Package) Files() []*File { return p.files }

// Import returns the package that path means in this package's module: any package that it, or what it imports, can import.
func (p *Package) Import(path string) (*Package, error) { return p.scope.load(path) }

// Fset is the file set of the package's syntax.
func (p *Package) Fset() *token.FileSet { return p.scope.source.fset }

// Mentions reports whether any file contains text. Nothing is parsed for it.
func (p *Package) Mentions(text string) bool {
	for _, f := range p.files {
		if bytes.Contains(f.Data, []byte(text)) {
			return true
		}
	}
	return false
}

// Syntax parses all files. The result has the order of [Package.Files]; a file without even a package clause is left out.
func (p *Package) Syntax() []*ast.File {
	var wg sync.WaitGroup
	for _, f := range p.files {
		wg.Go(func() { _, _ = f.Syntax(p.scope.source.fset) })
	}
	wg.Wait()
	out := make([]*ast.File, 0, len(p.files))
	for _, f := range p.files {
		if syntax, _ := f.Syntax(p.scope.source.fset); syntax != nil {
			out = append(out, syntax)
		}
	}
	return out
}

// Lookup returns the declaration of the type name, or nil. It parses only the files that may hold it.
func (p *Package) Lookup(name string) *Decl {
	if p.Root {
		return p.all()[name]
	}
	for _, f := range p.files {
		if f.scan().types[name] {
			if d := p.declsOf(f)[name]; d != nil {
				return d
			}
		}
	}
	if types.Universe.Lookup(name) != nil || p.scanned(name) {
		return nil
	}
	// Not laid out as gofmt does: read it all.
	return p.all()[name]
}

// scanned reports whether some file seems to declare a constant, variable or function of the name.
func (p *Package) scanned(name string) bool {
	return slices.ContainsFunc(p.files, func(f *File) bool { return f.scan().objects[name] })
}

func (p *Package) all() map[string]*Decl {
	p.lookup.Do(func() {
		p.decls = map[string]*Decl{}
		p.Syntax()
		for _, f := range p.files {
			for name, d := range p.declsOf(f) {
				if _, taken := p.decls[name]; !taken {
					p.decls[name] = d
				}
			}
		}
	})
	return p.decls
}

// declsOf returns the types that a file declares.
func (p *Package) declsOf(f *File) map[string]*Decl {
	f.typesOnce.Do(func() {
		f.types = map[string]*Decl{}
		file, _ := f.Syntax(p.scope.source.fset)
		if file == nil {
			return
		}
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && f.types[spec.Name.Name] == nil {
					f.types[spec.Name.Name] = &Decl{Package: p, File: file, Gen: gen, Spec: spec}
				}
			}
		}
	})
	return f.types
}

// HasMethod reports whether the type declares, itself and not by embedding, the method, which must be one of [KeptMethods].
func (p *Package) HasMethod(typeName, method string) bool {
	for _, f := range p.files {
		if !f.scan().methods[typeName] {
			continue
		}
		file, _ := f.Syntax(p.scope.source.fset)
		if file == nil {
			continue
		}
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Name.Name == method && receiverName(fn) == typeName {
				return true
			}
		}
	}
	return false
}

// ImportOf returns the import path that the qualifier name stands for in file.
func (p *Package) ImportOf(file *ast.File, name string) (string, bool) {
	var unsure []string
	for _, spec := range file.Imports {
		importPath := importPath(spec)
		switch {
		case spec.Name != nil:
			if spec.Name.Name == name {
				return importPath, true
			}
		case path.Base(importPath) == name:
			return importPath, true
		default:
			unsure = append(unsure, importPath)
		}
	}
	for _, likely := range []bool{true, false} {
		for _, importPath := range unsure {
			if mayBeNamed(importPath, name) != likely {
				continue
			}
			if pkg, err := p.Import(importPath); err == nil && pkg.Name == name {
				return importPath, true
			}
		}
	}
	return "", false
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// mayBeNamed tells the imports whose package is probably called name, such as gopkg.in/inf.v0 or example.com/go-thing/v2.
func mayBeNamed(importPath, name string) bool {
	base := path.Base(importPath)
	if majorVersion.MatchString(base) {
		base = path.Base(path.Dir(importPath))
	}
	return strings.Contains(base, name)
}

// Mistakes returns the syntax errors of the files parsed so far, and the errors in the types checked so far.
func (p *Package) Mistakes() []diag.Mistake {
	var out []diag.Mistake
	for _, f := range p.files {
		if !f.parsed.Load() {
			continue
		}
		if _, err := f.Syntax(p.scope.source.fset); err != nil {
			out = append(out, syntaxMistakes(f.Name, err)...)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return append(out, p.typeErr...)
}

func syntaxMistakes(file string, err error) []diag.Mistake {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return []diag.Mistake{{Pos: token.Position{Filename: file}, What: err.Error()}}
	}
	var out []diag.Mistake
	for _, e := range list {
		out = append(out, diag.Mistake{Pos: e.Pos, What: e.Msg})
	}
	return out
}

func receiverName(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return ""
	}
	expr := fn.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.ParenExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// parsedFiles returns the files that were parsed so far.
func (p *Package) parsedFiles() []*ast.File {
	var out []*ast.File
	for _, f := range p.files {
		if f.parsed.Load() && f.syntax != nil {
			out = append(out, f.syntax)
		}
	}
	return out
}
