package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// pkg is a package of the library as its importers see it.
type pkg struct {
	types      *types.Package
	deprecated map[string]string // the paragraphs that begin with "Deprecated:", by the identifier they are about
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles                       []string
	DepOnly                       bool
}

// list compiles packages of the module in dir and returns them with an importer of what the compiler has exported of
// them and of all that they import.
func list(dir string, patterns ...string) ([]listed, types.Importer, error) {
	out, err := goCommand(dir, append([]string{"list", "-export", "-deps", "-json=ImportPath,Name,Dir,GoFiles,Export,DepOnly"}, patterns...)...)
	if err != nil {
		return nil, nil, err
	}
	exports := map[string]string{}
	var named []listed
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("output of go list: %w", err)
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			named = append(named, p)
		}
	}
	return named, importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("go list knows nothing of %s", path)
		}
		return os.Open(exports[path])
	}), nil
}

// load returns the public packages of the library in root.
func load(root string) ([]*pkg, error) {
	named, imp, err := list(root, ".", "./pkg/...")
	if err != nil {
		return nil, err
	}
	var pkgs []*pkg
	for _, l := range named {
		if l.Name == "main" || internal(l.ImportPath) {
			continue
		}
		t, err := imp.Import(l.ImportPath)
		if err != nil {
			return nil, err
		}
		p := &pkg{types: t, deprecated: map[string]string{}}
		for _, name := range l.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(l.Dir, name), nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			p.collectDeprecations(f)
		}
		pkgs = append(pkgs, p)
	}
	return pkgs, nil
}

// internal reports whether other modules are kept from importing a package.
func internal(path string) bool { return strings.Contains(path+"/", "/internal/") }

// collectDeprecations keeps the paragraphs that say which of a file's names are deprecated.
func (p *pkg) collectDeprecations(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				p.noteDeprecation(d.Doc, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					p.noteDeprecation(d.Doc, s.Name)
					p.noteDeprecation(s.Doc, s.Name)
				case *ast.ValueSpec:
					p.noteDeprecation(d.Doc, s.Names...)
					p.noteDeprecation(s.Doc, s.Names...)
				}
			}
		}
	}
}

func (p *pkg) noteDeprecation(doc *ast.CommentGroup, names ...*ast.Ident) {
	for paragraph := range strings.SplitSeq(doc.Text(), "\n\n") {
		if !strings.HasPrefix(paragraph, "Deprecated: ") {
			continue
		}
		for _, name := range names {
			p.deprecated[name.Name] = strings.TrimSpace(paragraph)
		}
	}
}
