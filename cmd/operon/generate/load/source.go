package load

import (
	"bytes"
	"errors"
	"fmt"
	"go/build"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Config says where and how packages are found.
type Config struct {
	// Dir is the directory that patterns are relative to. Empty means the working directory.
	Dir string
	// BuildTags are the build tags that hold.
	BuildTags []string
	// Env is the environment that decides on the module cache, the workspace and the target. Nil means that of the process.
	Env []string
}

// Source finds and reads packages.
type Source struct {
	dir   string
	tags  []string
	env   environment
	build build.Context
	fset  *token.FileSet

	mu     sync.Mutex
	scopes map[string]*scope

	inputs *inputs
}

// scope is what one go.mod or go.work makes of import paths. A directory tree may hold several.
type scope struct {
	source  *Source
	modules *resolver

	mu       sync.Mutex
	packages map[string]*entry
}

type entry struct {
	once sync.Once
	pkg  *Package
	err  error
}

// ErrNoGoFiles is the error for a directory without Go files that build constraints let through.
var ErrNoGoFiles = errors.New("no Go files in it that the build constraints let through")

// New returns a source. It reads nothing yet.
func New(cfg Config) (*Source, error) {
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	env, err := newEnvironment(cfg.Env)
	if err != nil {
		return nil, err
	}
	ctx := build.Default
	ctx.GOROOT = env.goroot()
	ctx.GOOS = env.get("GOOS", ctx.GOOS)
	ctx.GOARCH = env.get("GOARCH", ctx.GOARCH)
	ctx.BuildTags = cfg.BuildTags
	// Files that use cgo declare types like any other.
	ctx.CgoEnabled = true
	return &Source{
		dir: dir, tags: cfg.BuildTags, env: env, build: ctx, fset: token.NewFileSet(), scopes: map[string]*scope{},
		inputs: newInputs(env.moduleCache(), ctx.GOROOT),
	}, nil
}

// Fset is the file set of all syntax that the source hands out.
func (s *Source) Fset() *token.FileSet { return s.fset }

// scopeOf returns the scope of the module or workspace that dir belongs to.
func (s *Source) scopeOf(dir string) (*scope, error) {
	modules, err := newResolver(dir, s.env, s.build.GOROOT, s.tags, s.inputs)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scopes[modules.base()] == nil {
		s.scopes[modules.base()] = &scope{source: s, modules: modules, packages: map[string]*entry{}}
	}
	return s.scopes[modules.base()], nil
}

func (s *scope) load(path string) (*Package, error) {
	s.mu.Lock()
	e := s.packages[path]
	if e == nil {
		e = &entry{}
		s.packages[path] = e
	}
	s.mu.Unlock()
	e.once.Do(func() {
		dir, err := s.modules.dirOf(path)
		if err != nil {
			e.err = err
			return
		}
		e.pkg, e.err = s.read(path, dir)
	})
	return e.pkg, e.err
}

// read reads the files of a directory as the package path.
func (s *scope) read(path, dir string) (*Package, error) {
	s.source.inputs.note(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("package %s: %w", path, err)
	}
	pkg := &Package{Path: path, Dir: dir, scope: s}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || name[0] == '_' || name[0] == '.' {
			continue
		}
		file, err := s.source.readFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("package %s: %w", path, err)
		}
		if file != nil {
			pkg.files = append(pkg.files, file)
		}
	}
	if len(pkg.files) == 0 {
		return nil, fmt.Errorf("package %s: %s: %w", path, dir, ErrNoGoFiles)
	}
	if err := pkg.setName(); err != nil {
		return nil, err
	}
	return pkg, nil
}

// readFile reads a file, and returns nil for one that build constraints leave out.
func (s *Source) readFile(dir, name string) (*File, error) {
	path := filepath.Join(dir, name)
	s.inputs.note(path)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	ctx := s.build
	ctx.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	matched, err := ctx.MatchFile(dir, name)
	if err == nil && !matched {
		return nil, nil
	}
	// A header that cannot be read is a syntax error, which parsing reports with its place.
	return &File{Name: path, Data: data}, nil
}

// setName takes the package's name from the first file that has one; files of another package in the directory are left out where they
// only document it, and reported by the type checker otherwise.
func (p *Package) setName() error {
	kept := p.files[:0:0]
	for _, f := range p.files {
		name := packageClause(f)
		if name == "documentation" {
			continue
		}
		if p.Name == "" {
			p.Name = name
		}
		kept = append(kept, f)
	}
	if len(kept) == 0 {
		return fmt.Errorf("package %s: %s: %w", p.Path, p.Dir, ErrNoGoFiles)
	}
	p.files = kept
	return nil
}

func packageClause(f *File) string {
	syntax, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Data, parser.PackageClauseOnly)
	if err != nil || syntax.Name == nil {
		return ""
	}
	return syntax.Name.Name
}
