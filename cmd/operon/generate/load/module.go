package load

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// resolver maps import paths to directories.
//
// A go.mod of Go 1.17 or later lists every module that its packages can import from, at the version that is built: so the file
// alone decides. A workspace is the union of its modules' lists, with the highest version of each.
type resolver struct {
	dir    string
	env    environment
	goroot string
	tags   []string
	inputs *inputs

	work    string       // directory of go.work, "" without one
	mains   []*module_   // main modules, longest path first
	deps    []dependency // longest path first
	vendor  string       // vendor directory in use, "" without one
	unknown error        // why the files alone do not decide, nil where they do

	listOnce sync.Once
	listed   map[string]string // import path to directory, as the go command says
	unlisted map[string]string // import path to what the go command has against it
	listErr  error
}

// module_ is a main module.
type module_ struct {
	path string
	dir  string
	file *modfile.File
}

// dependency is a module of the build list, with its directory.
type dependency struct {
	path string
	dir  string
}

// ErrNoModule is the error for a directory that is in no module.
var ErrNoModule = errors.New("no go.mod in it or above it: run it inside a Go module")

// newResolver reads the module files that hold for a directory.
func newResolver(dir string, env environment, goroot string, tags []string, inputs *inputs) (*resolver, error) {
	r := &resolver{dir: dir, env: env, goroot: goroot, tags: tags, inputs: inputs}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r, nil
}

// base is the directory of the go.work or go.mod that decides.
func (r *resolver) base() string {
	if r.work != "" {
		return r.work
	}
	return r.mains[0].dir
}

func (r *resolver) read() error {
	root := r.above(r.dir, "go.mod")
	work := r.env.get("GOWORK", "")
	switch work {
	case "off":
		work = ""
	case "":
		if dir := r.above(r.dir, "go.work"); dir != "" {
			work = filepath.Join(dir, "go.work")
		}
	}
	if root == "" && work == "" {
		return fmt.Errorf("%s: %w", r.dir, ErrNoModule)
	}
	replaces := map[string][]*modfile.Replace{}
	if work != "" {
		if err := r.readWork(work, replaces); err != nil {
			return err
		}
	}
	// A module that its workspace does not use is built as if there were no workspace only by those who turn it off; the go command
	// refuses it otherwise. It is read here all the same.
	if root != "" && !slices.ContainsFunc(r.mains, func(m *module_) bool { return m.dir == root }) {
		if work != "" {
			r.mains, r.work = nil, ""
			clear(replaces)
		}
		if err := r.readMain(root); err != nil {
			return err
		}
	}
	for _, m := range r.mains {
		for _, rep := range m.file.Replace {
			if !filepath.IsAbs(rep.New.Path) && rep.New.Version == "" {
				rep.New.Path = filepath.Join(m.dir, rep.New.Path)
			}
			replaces[rep.Old.Path] = append(replaces[rep.Old.Path], rep)
		}
	}
	slices.SortFunc(r.mains, func(a, b *module_) int { return cmp.Compare(len(b.path), len(a.path)) })
	r.findVendor()
	return r.buildList(replaces)
}

func (r *resolver) readMain(dir string) error {
	name := filepath.Join(dir, "go.mod")
	r.inputs.note(name)
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	// Lax parsing would drop replacements; the strict one knows every directive of today's go.mod.
	file, err := modfile.Parse(name, data, nil)
	if err != nil {
		return err
	}
	if file.Module == nil {
		return fmt.Errorf("%s: no module line", name)
	}
	if file.Go == nil || semver.Compare("v"+file.Go.Version, "v1.17") < 0 && !strings.HasPrefix(file.Go.Version, "1.17") {
		r.unknown = fmt.Errorf("%s is from before Go 1.17 and does not list all modules", name)
	}
	r.mains = append(r.mains, &module_{path: file.Module.Mod.Path, dir: dir, file: file})
	return nil
}

func (r *resolver) readWork(name string, replaces map[string][]*modfile.Replace) error {
	r.inputs.note(name)
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	file, err := modfile.ParseWork(name, data, nil)
	if err != nil {
		return err
	}
	r.work = filepath.Dir(name)
	for _, use := range file.Use {
		dir := use.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(r.work, dir)
		}
		// A module that the workspace names and that is not there can hold nothing to load.
		if err := r.readMain(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	for _, rep := range file.Replace {
		if !filepath.IsAbs(rep.New.Path) && rep.New.Version == "" {
			rep.New.Path = filepath.Join(r.work, rep.New.Path)
		}
		replaces[rep.Old.Path] = append(replaces[rep.Old.Path], rep)
	}
	return nil
}

func (r *resolver) findVendor() {
	if mod := r.env.flag("mod"); mod != "" && mod != "vendor" {
		return
	}
	dir := r.work
	if dir == "" {
		dir = r.mains[0].dir
	}
	modules := filepath.Join(dir, "vendor", "modules.txt")
	r.inputs.note(modules)
	if _, err := os.Stat(modules); err == nil {
		r.vendor = filepath.Join(dir, "vendor")
	}
}

func (r *resolver) buildList(replaces map[string][]*modfile.Replace) error {
	versions := map[string]string{}
	for _, m := range r.mains {
		for _, req := range m.file.Require {
			if v, ok := versions[req.Mod.Path]; !ok || semver.Compare(req.Mod.Version, v) > 0 {
				versions[req.Mod.Path] = req.Mod.Version
			}
		}
	}
	cache := r.env.moduleCache()
	for path, version := range versions {
		if slices.ContainsFunc(r.mains, func(m *module_) bool { return m.path == path }) {
			continue
		}
		mod := module.Version{Path: path, Version: version}
		for _, rep := range replaces[path] {
			if rep.Old.Version == "" || rep.Old.Version == version {
				mod = rep.New
				break
			}
		}
		dir := mod.Path
		if mod.Version != "" {
			escapedPath, err := module.EscapePath(mod.Path)
			if err != nil {
				return err
			}
			escapedVersion, err := module.EscapeVersion(mod.Version)
			if err != nil {
				return err
			}
			dir = filepath.Join(cache, filepath.FromSlash(escapedPath)+"@"+escapedVersion)
		}
		r.deps = append(r.deps, dependency{path: path, dir: dir})
	}
	slices.SortFunc(r.deps, func(a, b dependency) int {
		return cmp.Or(cmp.Compare(len(b.path), len(a.path)), cmp.Compare(a.path, b.path))
	})
	return nil
}

// dirOf returns the directory of a package.
func (r *resolver) dirOf(path string) (string, error) {
	for _, m := range r.mains {
		if rest, ok := below(path, m.path); ok {
			if dir := filepath.Join(m.dir, rest); hasGo(dir) {
				return dir, nil
			}
		}
	}
	if first, _, _ := strings.Cut(path, "/"); !strings.Contains(first, ".") {
		for _, dir := range []string{filepath.Join(r.goroot, "src", path), filepath.Join(r.goroot, "src", "vendor", path)} {
			if hasGo(dir) {
				return dir, nil
			}
		}
		return "", fmt.Errorf("package %s is not in the standard library of %s", path, r.goroot)
	}
	if r.vendor != "" {
		if dir := filepath.Join(r.vendor, filepath.FromSlash(path)); hasGo(dir) {
			return dir, nil
		}
		return "", fmt.Errorf("package %s is not in the vendor directory: run go mod vendor", path)
	}
	if r.unknown == nil {
		for _, dep := range r.deps {
			if rest, ok := below(path, dep.path); ok {
				if dir := filepath.Join(dep.dir, rest); hasGo(dir) {
					return dir, nil
				}
			}
		}
		if dir := filepath.Join(r.goroot, "src", "vendor", path); strings.HasPrefix(path, "golang.org/x/") && hasGo(dir) {
			return dir, nil
		}
	}
	return r.ask(path)
}

// below returns what follows the module's path in a package's, as a file path.
func below(path, modulePath string) (string, bool) {
	rest, ok := strings.CutPrefix(path, modulePath)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	return filepath.FromSlash(strings.TrimPrefix(rest, "/")), true
}

func hasGo(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		return strings.HasSuffix(e.Name(), ".go") && !e.IsDir()
	})
}

// above returns the nearest directory, from dir upwards, that has a file called name, or "".
func (r *resolver) above(dir, name string) string {
	for {
		r.inputs.note(filepath.Join(dir, name))
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}
