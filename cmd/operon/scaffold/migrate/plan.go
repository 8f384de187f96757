package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/worktree"
)

// ErrMigrated says that a project is on Operon already.
var ErrMigrated = errors.New("the project is on Operon already: there is nothing to move")

// Options are how a project is moved.
type Options struct {
	// Compat leaves imports as they are, and has go.mod replace controller-runtime by the module that is Operon under its name.
	Compat bool
	// NoBuild leaves out compiling the result.
	NoBuild bool
	// Force moves a project with changes that are not committed.
	Force bool
	// From is where Operon is to be had.
	From origin.Origin
}

// A Plan is a project as it will be on Operon.
type Plan struct {
	// Set is the changes.
	Set *fileset.Set
	// Notes are sentences on what is left for a person.
	Notes []string
	// Scaffolded says that operon's other verbs know the project, by a PROJECT file that they take.
	Scaffolded bool

	module  string // the project's module
	vendors bool
	// strays says that the project is on Operon, and what is moved is files that were added to it with imports of controller-runtime.
	strays bool
}

// New plans the move of the operator whose PROJECT or go.mod is in root. In one that is on Operon it plans that of the Go files which import
// controller-runtime all the same, a tutorial's perhaps. It returns ErrMigrated where there is nothing to move.
// Progress is told to say.
func New(ctx context.Context, root string, opts Options, say func(string)) (*Plan, error) {
	plan := &Plan{Set: fileset.New(root, true)}
	// Not by way of the set: what go.mod becomes is shown last.
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, withoutModule(root)
	}
	if err != nil {
		return nil, err
	}
	mod := string(data)
	file, err := gomodule.Parse(mod)
	if err != nil {
		return nil, err
	}
	err = onControllerRuntime(root, file)
	plan.strays = errors.Is(err, ErrMigrated) && !opts.Compat && !onCompat(file)
	if err != nil && !plan.strays {
		return nil, err
	}
	var reason string
	if plan.Scaffolded, reason = scaffolded(root); !plan.Scaffolded && !opts.Compat && !plan.strays {
		plan.note("Makefile and test suites keep their tools, since operon's other verbs do not know the project: %s", reason)
	}
	changes := append([]move{}, moves...)
	if !opts.Compat && plan.Scaffolded {
		changes = append(changes, dropAssets)
	}
	if !opts.Compat {
		changes = append(changes, moveImports)
	}
	if err := plan.moveFiles(changes, opts); err != nil {
		return nil, err
	}
	if plan.strays && len(plan.Set.Changes()) == 0 {
		return nil, ErrMigrated
	}
	if !opts.Force {
		if err := worktree.CheckClean(ctx, root); err != nil {
			return nil, err
		}
	}
	if plan.strays {
		plan.module = gomodule.Path(mod)
	} else if err := plan.moveModule(mod, opts); err != nil {
		return nil, err
	}
	if err := plan.verify(ctx, opts, say); err != nil {
		return nil, err
	}
	return plan, nil
}

// onControllerRuntime returns an error unless the go.mod in root says that its module is on controller-runtime, and on that of its own name.
func onControllerRuntime(root string, mod *modfile.File) error {
	requires := func(path string) bool {
		return slices.ContainsFunc(mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == path && !r.Indirect })
	}
	switch {
	case onCompat(mod):
		return ErrMigrated
	case requires(gomodule.ControllerRuntime):
		return nil
	case requires(origin.Library):
		return ErrMigrated
	default:
		return fmt.Errorf("the module in %s does not require %s, so there is nothing to move from: go to the directory of one that does", root, gomodule.ControllerRuntime)
	}
}

// onCompat reports whether a go.mod has Operon stand in for controller-runtime under its own name.
func onCompat(mod *modfile.File) bool {
	return slices.ContainsFunc(mod.Replace, func(r *modfile.Replace) bool {
		return r.Old.Path == gomodule.ControllerRuntime && strings.HasSuffix(r.New.Path, compatModule)
	})
}

// moveFiles plans the changes of all files but go.mod.
func (p *Plan) moveFiles(changes []move, opts Options) error {
	root := p.Set.Root()
	var modules, mentions []string
	err := filepath.WalkDir(root, func(full string, d fs.DirEntry, err error) error {
		if err != nil || full == root {
			return err
		}
		rel, err := filepath.Rel(root, full)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			name := d.Name()
			if name == "vendor" {
				p.vendors = p.vendors || rel == name
				return fs.SkipDir
			}
			if name == "testdata" || name == "node_modules" || rel == "bin" || strings.HasPrefix(name, ".git") || strings.HasPrefix(name, "_") {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(full, "go.mod")); err == nil {
				modules = append(modules, rel)
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		return p.moveFile(rel, changes, opts, &mentions)
	})
	if err != nil {
		return err
	}
	for _, module := range modules {
		p.note("%s is a module of its own, and stays as it is: move it likewise if it is on controller-runtime", module)
	}
	for _, file := range mentions {
		p.note("%s names %s still", file, gomodule.ControllerRuntime)
	}
	if p.vendors {
		p.note("vendor still holds the old modules: go mod vendor makes it anew")
	}
	return nil
}

// moveFile plans the change of one file.
func (p *Plan) moveFile(rel string, changes []move, opts Options, mentions *[]string) error {
	switch {
	case path.Ext(rel) == ".go":
		data, err := os.ReadFile(filepath.Join(p.Set.Root(), filepath.FromSlash(rel)))
		if err != nil {
			return err
		}
		text := string(data)
		if !strings.Contains(text, gomodule.ControllerRuntime) {
			return nil
		}
		if !imports(text, gomodule.ControllerRuntime) {
			_, err := parse(rel, text)
			return err
		}
		moved, err := apply(rel, text, changes...)
		if err != nil {
			return err
		}
		for line := range strings.Lines(moved) {
			if strings.HasPrefix(line, "//go:generate") && strings.Contains(line, gomodule.ControllerRuntime) && !opts.Compat {
				*mentions = append(*mentions, rel)
				break
			}
		}
		return p.Set.Edit(rel, func(string) (string, error) { return moved, nil })
	case p.strays:
		return nil
	case isDockerfile(rel):
		return p.Set.Edit(rel, func(text string) (string, error) { return moveDockerfile(text), nil })
	case opts.Compat:
		return nil
	case rel == "Makefile" && p.Scaffolded:
		return p.Set.Edit(rel, func(text string) (string, error) {
			result := moveMakefile(text)
			if len(result.left) > 0 {
				p.note("Makefile: left as they are: %s", strings.Join(result.left, ", "))
			}
			if namesLibrary(result.text) {
				*mentions = append(*mentions, rel)
			}
			return result.text, nil
		})
	case path.Base(rel) == "Makefile" || slices.Contains([]string{".yml", ".yaml", ".mk", ".sh", ".toml"}, path.Ext(rel)):
		data, err := os.ReadFile(filepath.Join(p.Set.Root(), filepath.FromSlash(rel)))
		if err == nil && namesLibrary(string(data)) {
			*mentions = append(*mentions, rel)
		}
		return err
	}
	return nil
}

// namesLibrary reports whether a text that is not Go names controller-runtime or a package of it: to a generator of mocks, for instance, which would
// make them for the package that the project has left. Programs below tools are modules of their own, and stay.
func namesLibrary(text string) bool {
	return strings.Contains(strings.ReplaceAll(text, gomodule.ControllerRuntime+"/tools/", ""), gomodule.ControllerRuntime)
}

func (p *Plan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}
