package load

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// Roots returns the packages that the patterns name, each once, sorted by import path. A pattern is a directory ("./api/v1"), a
// directory and all below it ("./api/..."), an import path, with or without "/...", or a Go file, which stands for its package. Below a
// "/..." directories called testdata or vendor, or beginning with a dot or an underscore, are passed over; modules nested in the tree are
// not.
func (s *Source) Roots(patterns ...string) ([]*Package, error) {
	var found []place
	for _, pattern := range patterns {
		places, err := s.expand(pattern)
		if err != nil {
			return nil, err
		}
		found = append(found, places...)
	}
	slices.SortStableFunc(found, func(a, b place) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.dir, b.dir)) })
	found = slices.CompactFunc(found, func(a, b place) bool { return a.path == b.path && a.dir == b.dir })

	roots := make([]*Package, len(found))
	errs := make([]error, len(found))
	var wg sync.WaitGroup
	limit := make(chan struct{}, 8)
	for i, at := range found {
		wg.Go(func() {
			limit <- struct{}{}
			defer func() { <-limit }()
			roots[i], errs[i] = at.scope.loadAt(at.path, at.dir)
		})
	}
	wg.Wait()
	out := roots[:0]
	for i, pkg := range roots {
		if errs[i] != nil {
			if found[i].optional {
				continue
			}
			return nil, errs[i]
		}
		pkg.Root = true
		out = append(out, pkg)
	}
	return out, nil
}

// place is a package not read yet.
type place struct {
	scope     *scope
	path, dir string
	// optional places come from a "/..." and may turn out to hold no package for this platform.
	optional bool
}

func (s *scope) loadAt(path, dir string) (*Package, error) {
	s.mu.Lock()
	e := s.packages[path]
	if e == nil {
		e = &entry{}
		s.packages[path] = e
	}
	s.mu.Unlock()
	e.once.Do(func() { e.pkg, e.err = s.read(path, dir) })
	return e.pkg, e.err
}

func (s *Source) expand(pattern string) ([]place, error) {
	name, tree := strings.CutSuffix(filepath.ToSlash(pattern), "/...")
	if pattern == "..." {
		name, tree = ".", true
	}
	if !isPath(name) {
		return s.expandImport(pattern, name, tree)
	}
	dir := filepath.FromSlash(name)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(s.dir, dir)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("paths=%s: %w", pattern, os.ErrNotExist)
	}
	if !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	scope, err := s.scopeOf(dir)
	if err != nil {
		return nil, fmt.Errorf("paths=%s: %w", pattern, err)
	}
	if tree {
		return s.walk(scope, dir)
	}
	path, err := scope.modules.pathOf(dir)
	if err != nil {
		return nil, fmt.Errorf("paths=%s: %w", pattern, err)
	}
	return []place{{scope: scope, path: path, dir: dir}}, nil
}

// isPath tells file paths from import paths, as the go command does.
func isPath(name string) bool {
	return name == "." || name == ".." || strings.HasPrefix(name, "./") || strings.HasPrefix(name, "../") || filepath.IsAbs(name) ||
		strings.HasSuffix(name, ".go")
}

func (s *Source) expandImport(pattern, name string, tree bool) ([]place, error) {
	scope, err := s.scopeOf(s.dir)
	if err != nil {
		return nil, err
	}
	if strings.Contains(name, "...") {
		return nil, fmt.Errorf("paths=%s: \"...\" is understood at the end of a path only, after a slash", pattern)
	}
	if !tree {
		dir, err := scope.modules.dirOf(name)
		if err != nil {
			if _, statErr := os.Stat(filepath.Join(s.dir, filepath.FromSlash(name))); statErr == nil {
				return nil, fmt.Errorf("paths=%s: no such package; a directory is written ./%s", pattern, name)
			}
			return nil, fmt.Errorf("paths=%s: %w", pattern, err)
		}
		return []place{{scope: scope, path: name, dir: dir}}, nil
	}
	dir := scope.modules.treeOf(name)
	if dir == "" {
		return nil, fmt.Errorf("paths=%s: no module of the build has packages of that name; a directory is written ./%s", pattern, pattern)
	}
	var out []place
	err = s.eachDir(dir, func(at string, nested bool) error {
		if nested {
			return filepath.SkipDir
		}
		if !hasGo(at) {
			return nil
		}
		rel, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		path := name
		if rel != "." {
			path += "/" + filepath.ToSlash(rel)
		}
		out = append(out, place{scope: scope, path: path, dir: at, optional: true})
		return nil
	})
	return out, err
}

// walk finds the packages below dir, those of nested modules too.
func (s *Source) walk(top *scope, dir string) ([]place, error) {
	scopes := map[string]*scope{dir: top}
	var out []place
	err := s.eachDir(dir, func(at string, nested bool) error {
		current := scopes[at]
		if current == nil {
			current = scopes[filepath.Dir(at)]
		}
		if nested {
			var err error
			if current, err = s.scopeOf(at); err != nil {
				return err
			}
		}
		scopes[at] = current
		if !hasGo(at) {
			return nil
		}
		path, err := current.modules.pathOf(at)
		if err != nil {
			return err
		}
		out = append(out, place{scope: current, path: path, dir: at, optional: true})
		return nil
	})
	return out, err
}

// eachDir visits dir and the directories below it that the go command would, and nested modules.
func (s *Source) eachDir(dir string, visit func(dir string, nested bool) error) error {
	top := dir + string(filepath.Separator) // so that dir may be a symbolic link
	return filepath.WalkDir(top, func(at string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() {
			return nil
		}
		if at == top {
			at = dir
		}
		name := e.Name()
		s.inputs.note(at)
		if at == dir {
			return visit(at, false)
		}
		if name == "testdata" || name == "vendor" || name[0] == '.' || name[0] == '_' {
			return filepath.SkipDir
		}
		_, err = os.Stat(filepath.Join(at, "go.mod"))
		return visit(at, err == nil)
	})
}

// pathOf is the import path of a directory in a main module.
func (r *resolver) pathOf(dir string) (string, error) {
	var best *module_
	for _, m := range r.mains {
		if rel, err := filepath.Rel(m.dir, dir); err == nil && (rel == "." || filepath.IsLocal(rel)) && (best == nil || len(m.dir) > len(best.dir)) {
			best = m
		}
	}
	if best == nil {
		return "", fmt.Errorf("%s: %w", dir, ErrNoModule)
	}
	rel, err := filepath.Rel(best.dir, dir)
	if err != nil || rel == "." {
		return best.path, err
	}
	return best.path + "/" + filepath.ToSlash(rel), nil
}

// treeOf is the directory that holds the packages whose import paths begin with path, "" where there is none.
func (r *resolver) treeOf(path string) string {
	for _, m := range r.mains {
		if rest, ok := below(path, m.path); ok {
			if dir := filepath.Join(m.dir, rest); isDir(dir) {
				return dir
			}
		}
	}
	for _, dep := range r.deps {
		if rest, ok := below(path, dep.path); ok {
			if dir := filepath.Join(dep.dir, rest); isDir(dir) {
				return dir
			}
		}
	}
	return ""
}

func isDir(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}
