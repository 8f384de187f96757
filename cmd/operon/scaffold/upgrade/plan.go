package upgrade

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"github.com/operon-dev/operon/cmd/operon/scaffold"
	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
	"github.com/operon-dev/operon/cmd/operon/scaffold/threeway"
	"github.com/operon-dev/operon/cmd/operon/scaffold/worktree"
)

// Options are how a project is upgraded.
type Options struct {
	// From is where the untouched scaffold of the project is: a directory, or a commit of its repository. Empty: it is made again.
	From string
	// Force upgrades a project with changes that are not committed.
	Force bool
	// Now is the scaffold to upgrade to. The zero value is that of this command.
	Now templates.Set
	// Known are the scaffolds that the project may have been made with, the last first. Nil means those that are archived.
	Known []templates.Set
}

// A Plan is a project with the newer scaffold in it.
type Plan struct {
	// Set is the changes. It is empty where the project has all there is.
	Set *fileset.Set
	// Base is what people know the scaffold by that the project was made with.
	Base string
	// Conflicts are the files with places that a person is to settle.
	Conflicts []string
	// Notes are sentences on files that stay as they are.
	Notes []string
}

const (
	goMod = "go.mod"
	goSum = "go.sum"
)

// readme is a person's from the first change on.
const readme = "README.md"

// labels are how the sides of a conflict are marked.
var labels = threeway.Labels{Ours: "this project", Theirs: "the newer scaffold"}

// New plans the upgrade of a project.
func New(ctx context.Context, p *project.Project, opts Options) (*Plan, error) {
	if !slices.ContainsFunc(p.Layout, func(plugin string) bool { return strings.HasSuffix(plugin, project.Layout) }) {
		return nil, fmt.Errorf("the project is laid out as %s, and only %s is what operon makes: there is no newer scaffold for it", strings.Join(p.Layout, ","), project.Layout)
	}
	from, err := libraryOf(p)
	if err != nil {
		return nil, err
	}
	if version := p.CLIVersion(); version != "" && opts.From == "" {
		return nil, fmt.Errorf("kubebuilder %s made this project, as PROJECT says, and its scaffold is not known here: name the commit that has it untouched, with --from", version)
	}
	if !opts.Force {
		if err := worktree.CheckClean(ctx, p.Root()); err != nil {
			return nil, err
		}
	}
	if opts.Known == nil {
		if opts.Known, err = templates.Archived(); err != nil {
			return nil, err
		}
	}
	theirs, err := scaffold.Regenerate(p, from, opts.Now)
	if err != nil {
		return nil, fmt.Errorf("the scaffold of what PROJECT says can't be made: %w", err)
	}
	plan := &Plan{Set: fileset.New(p.Root(), true)}
	earlier := map[string]map[string]string{}
	for _, set := range opts.Known {
		if earlier[set.Name], err = scaffold.Regenerate(p, from, set); err != nil {
			return nil, fmt.Errorf("%s: %w", set.Name, err)
		}
	}
	var base map[string]string
	if opts.From != "" {
		plan.Base = opts.From
		if base, err = untouched(ctx, p.Root(), opts.From); err != nil {
			return nil, err
		}
		// What no scaffold ever made is not the scaffold's, whatever is there.
		maps.DeleteFunc(base, func(path, _ string) bool {
			_, made := theirs[path]
			for _, files := range earlier {
				_, was := files[path]
				made = made || was
			}
			return !made
		})
	} else if plan.Base, base, err = nearest(p.Root(), opts.Known, earlier, theirs); err != nil {
		return nil, err
	}
	if err := plan.merge(base, theirs); err != nil {
		return nil, err
	}
	return plan, plan.raise(from)
}

// raise has go.mod require what the newer scaffold needs. The library is that of this command, where it can tell which one that is.
func (plan *Plan) raise(from origin.Origin) error {
	if library, err := origin.Find(); err == nil {
		from = library
	}
	mod, err := plan.Set.Read(goMod)
	if err != nil {
		return err
	}
	sum, err := plan.Set.Read(goSum)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	newMod, newSum, err := gomodule.Raise(mod, sum, plan.Set.Root(), from)
	if err != nil || newMod == mod {
		return err
	}
	if err := plan.Set.Create(goMod, newMod); err != nil {
		return err
	}
	return plan.Set.Create(goSum, newSum)
}

// libraryOf is where a project has Operon from.
func libraryOf(p *project.Project) (origin.Origin, error) {
	data, err := os.ReadFile(filepath.Join(p.Root(), "go.mod"))
	if errors.Is(err, fs.ErrNotExist) {
		return origin.Origin{}, errors.New("the project has no go.mod, so it is not a Go module: there is no newer scaffold for it")
	}
	if err != nil {
		return origin.Origin{}, err
	}
	file, err := gomodule.Parse(string(data))
	if err != nil {
		return origin.Origin{}, err
	}
	runtime, err := gomodule.RuntimeOf(string(data))
	if err != nil {
		return origin.Origin{}, err
	}
	if runtime.Path != origin.Library {
		return origin.Origin{}, fmt.Errorf("the project is on %s, not on Operon: operon migrate moves it", runtime.Path)
	}
	for _, r := range file.Replace {
		if r.Old.Path != origin.Library || r.New.Version != "" {
			continue
		}
		dir := r.New.Path
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(p.Root(), dir)
		}
		if from, err := origin.At(dir); err == nil {
			return from, nil
		}
		return origin.Find()
	}
	for _, r := range file.Require {
		if r.Mod.Path == origin.Library {
			return origin.Origin{Version: r.Mod.Version}, nil
		}
	}
	return origin.Find()
}

// untouched reads the scaffold that a person names: a directory, or a commit.
func untouched(ctx context.Context, root, from string) (map[string]string, error) {
	info, err := os.Stat(from)
	if err != nil || !info.IsDir() {
		files, err := worktree.Files(ctx, root, from)
		if err != nil {
			return nil, fmt.Errorf("--from %s is neither a directory nor a commit of the project: %w", from, err)
		}
		return files, nil
	}
	files := map[string]string{}
	err = fs.WalkDir(os.DirFS(from), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && d.Name() != ".git" {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(filepath.Join(from, filepath.FromSlash(path)))
		files[path] = string(data)
		return err
	})
	return files, err
}

// nearest is the scaffold from which the project differs least; of those that are alike in that, the last. The current scaffold is one of them.
func nearest(root string, known []templates.Set, earlier map[string]map[string]string, now map[string]string) (string, map[string]string, error) {
	name, base := "this operon's", now
	project := fileset.New(root, false)
	least, err := distance(project, now)
	if err != nil {
		return "", nil, err
	}
	for _, set := range known {
		d, err := distance(project, earlier[set.Name])
		if err != nil {
			return "", nil, err
		}
		if d < least {
			name, base, least = set.Name, earlier[set.Name], d
		}
	}
	return name, base, nil
}

// distance is how many lines a project's files have otherwise than a scaffold's.
func distance(project *fileset.Set, files map[string]string) (int, error) {
	lines := 0
	for path, made := range files {
		ours, err := project.Read(path)
		if errors.Is(err, fs.ErrNotExist) {
			lines += strings.Count(made, "\n")
			continue
		}
		if err != nil {
			return 0, err
		}
		for _, edit := range udiff.Lines(made, ours) {
			lines += strings.Count(made[edit.Start:edit.End], "\n") + strings.Count(edit.New, "\n")
		}
	}
	return lines, nil
}

// merge plans what becomes of each file.
func (plan *Plan) merge(base, theirs map[string]string) error {
	all := maps.Clone(base)
	maps.Copy(all, theirs)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		made, was := base[path]
		makes, is := theirs[path]
		if was && is && made == makes {
			continue
		}
		ours, err := plan.Set.Read(path)
		there := err == nil
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		switch {
		case there && ours == makes && is:
		case !there && was && is:
			plan.note("%s is deleted here, and stays so; the scaffold has changed it", path)
		case !there && was:
		case !there:
			err = plan.Set.Create(path, makes)
			if err != nil {
				return err
			}
		case !is && ours == made:
			if err := plan.Set.Remove(path); err != nil {
				return err
			}
		case !is:
			plan.note("%s is changed here, and stays; the scaffold has it no more", path)
		case path == readme && ours != made:
			plan.note("%s is changed here, and stays as it is; the scaffold has changed it", path)
		default:
			merged, conflicts := threeway.Merge(made, ours, makes, labels)
			if conflicts > 0 {
				plan.Conflicts = append(plan.Conflicts, path)
			}
			if err := plan.Set.Create(path, merged); err != nil {
				return err
			}
		}
	}
	return nil
}

func (plan *Plan) note(format string, args ...any) {
	plan.Notes = append(plan.Notes, fmt.Sprintf(format, args...))
}
