package rebuild

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/operon-dev/operon/cmd/operon/devloop/stamp"
)

// A plan is how to build the program from what go build has made.
type plan struct {
	env     []string // of the compiler and the linker
	modules sources  // the files that say which packages are built
	// packages are those whose files may change, each after those that it imports.
	packages []*unit
	archives map[string]string // of all packages, by import path
	main     string            // the main package's import path
	link     step
	output   stamp.Stamp // of the binary that is made of them; zero until a rebuild has made one
}

// A unit is a package whose files may change.
type unit struct {
	path    string
	imports []*unit
	dir     string
	goFiles []string // names in dir
	tree    bool     // files below dir are embedded
	state   state
	compile *step // nil: only the go command can
	export  digest
	own     bool // the archive is a rebuild's, which nobody else uses
}

// listed is what go list says about a package.
type listed struct {
	ImportPath, Dir, Export         string
	Standard                        bool
	GoFiles, Imports, EmbedPatterns []string
	ImportMap                       map[string]string
	Module                          *struct{ GoMod string }
}

// newPlan asks the go command for a plan, after a build.
func (b *Builder) newPlan(ctx context.Context) (*plan, error) {
	settings, err := b.settings(ctx)
	if err != nil {
		return nil, err
	}
	// What the files are must be known before their archives: a file that changes in between is compiled again, at worst.
	packages, err := b.list(ctx, "-json=ImportPath,Dir,Standard,GoFiles,Imports,ImportMap,EmbedPatterns,Module")
	if err != nil {
		return nil, err
	}
	for _, flag := range []string{"-overlay", "-modfile"} {
		if strings.Contains(settings["GOFLAGS"], flag) {
			return nil, fmt.Errorf("GOFLAGS has %s", flag)
		}
	}
	p := &plan{env: slices.Clone(b.Env), archives: map[string]string{}, modules: sources{}}
	for name, value := range settings {
		p.env = append(p.env, name+"="+value)
	}
	virtual, err := b.overlaid()
	if err != nil {
		return nil, err
	}
	if err := p.addUnits(packages, settings, virtual); err != nil {
		return nil, err
	}

	var t trace
	var traceErr error
	var tracing sync.WaitGroup
	tracing.Go(func() { t, traceErr = b.trace(ctx) })
	exported, err := b.list(ctx, "-export", "-json=ImportPath,Export")
	tracing.Wait()
	if err := errors.Join(err, traceErr); err != nil {
		return nil, err
	}
	for _, l := range exported {
		if l.Export != "" {
			p.archives[l.ImportPath] = l.Export
		}
	}
	p.main = exported[len(exported)-1].ImportPath
	return p, p.follow(t)
}

// addUnits adds the packages whose files may change, without their virtual files, and the files that say which packages are built.
func (p *plan) addUnits(packages []listed, settings map[string]string, virtual map[string]bool) error {
	p.modules.addModule(settings["GOMOD"])
	p.modules.addModule(settings["GOWORK"])
	units := map[string]*unit{}
	for _, l := range packages {
		if l.Standard || isBelow(l.Dir, settings["GOMODCACHE"]) {
			continue
		}
		if l.Module == nil {
			return fmt.Errorf("%s is in no module", l.ImportPath)
		}
		p.modules.addModule(l.Module.GoMod)
		p.modules.add(filepath.Join(filepath.Dir(l.Module.GoMod), "vendor", "modules.txt"))
		p.modules.add(filepath.Join(l.Dir, "default.pgo"))
		u := &unit{path: l.ImportPath, dir: l.Dir, tree: len(l.EmbedPatterns) > 0}
		for _, name := range l.GoFiles {
			if !virtual[filepath.Join(l.Dir, name)] {
				u.goFiles = append(u.goFiles, name)
			}
		}
		var err error
		if u.state, err = u.read(); err != nil {
			return err
		}
		for _, path := range l.Imports {
			if mapped, ok := l.ImportMap[path]; ok {
				path = mapped
			}
			if imported, ok := units[path]; ok {
				u.imports = append(u.imports, imported)
			}
		}
		units[u.path] = u
		p.packages = append(p.packages, u)
	}
	return nil
}

// addModule adds a go.mod or go.work, and its sums. Without a module, or a workspace, the go command names no file.
func (s sources) addModule(file string) {
	if file == "" || file == os.DevNull {
		return
	}
	s.add(file)
	switch filepath.Ext(file) {
	case ".mod":
		s.add(strings.TrimSuffix(file, ".mod") + ".sum")
	case ".work":
		s.add(file + ".sum")
	}
}

// follow takes the steps of a trace over.
func (p *plan) follow(t trace) error {
	p.link = t.link
	if err := p.link.checkArchives(p.archives); err != nil {
		return err
	}
	last := len(p.link.args) - 1
	made := map[string]string{p.main: p.link.args[last]} // the archives' names in the trace
	inConfig(p.link.config, func(path, archive string) { made[path] = archive })
	for _, name := range []string{"-o", "-importcfg"} {
		at := p.link.option(name)
		if at == 0 {
			return fmt.Errorf("go build -n: the linker is called without %s", name)
		}
		p.link.args[at] = ""
	}
	p.link.args[last] = ""
	if p.link.mentions(work) {
		return errors.New("go build -n: the linker needs what only go build makes")
	}
	for _, u := range p.packages {
		var err error
		if u.export, err = exportOf(p.archives[u.path]); err != nil {
			return err
		}
		s, ok := t.compile[made[u.path]]
		if !ok || s.checkArchives(p.archives) != nil || !s.compilesOnly(u) {
			continue
		}
		u.compile = &s
	}
	return nil
}

// checkArchives says which package of the step's has no archive.
func (s step) checkArchives(archives map[string]string) (err error) {
	inConfig(s.config, func(path, _ string) {
		if archives[path] == "" {
			err = fmt.Errorf("%s has no archive", path)
		}
	})
	return err
}

// mentions reports whether an argument has a text in it.
func (s step) mentions(text string) bool {
	return slices.ContainsFunc(s.args, func(arg string) bool { return strings.Contains(arg, text) })
}

// compilesOnly prepares the step of a unit, and reports whether it needs nothing but Go files and archives.
func (s *step) compilesOnly(u *unit) bool {
	s.args = slices.Clone(s.args)
	out := s.args[s.option("-o")]
	objects := strings.TrimSuffix(out, "/_pkg_.a")
	s.args[s.option("-o")], s.args[s.option("-importcfg")] = "", ""
	if trim := s.option("-trimpath"); trim > 0 {
		// It takes the go command's temporary directory out of the files' names, where nothing is that this package consists of.
		if strings.Contains(strings.Replace(s.args[trim], objects+"=>", "", 1), work) {
			return false
		}
	}
	for i, arg := range s.args {
		// The go command prints its directory as a dot.
		if rest, ok := strings.CutPrefix(arg, "./"); ok && s.dir != "" {
			s.args[i] = filepath.Join(s.dir, rest)
		}
		if strings.Contains(arg, work) && i != s.option("-trimpath") || arg == "-symabis" || arg == "-embedcfg" || arg == "-asmhdr" {
			return false
		}
	}
	return !u.tree
}

// settings are the settings of the go command, which it hands on to the compiler and the linker.
func (b *Builder) settings(ctx context.Context) (map[string]string, error) {
	out, err := b.output(ctx, "env", "-json")
	if err != nil {
		return nil, err
	}
	var settings map[string]string
	return settings, json.Unmarshal(out, &settings)
}

// list lists the main package and all that it depends on, each after those that it imports.
func (b *Builder) list(ctx context.Context, flags ...string) ([]listed, error) {
	out, err := b.output(ctx, slices.Concat([]string{"list", "-deps"}, b.Flags, flags, []string{b.Package})...)
	if err != nil {
		return nil, err
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var l listed
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, l)
	}
	if len(packages) == 0 {
		return nil, errors.New("go list: nothing")
	}
	return packages, nil
}

func (b *Builder) trace(ctx context.Context) (trace, error) {
	cmd := b.goCommand(ctx, "build", "-n", "-a", "-o", b.Output+".next")
	var said bytes.Buffer
	cmd.Stderr = &said // where it prints the commands
	if err := cmd.Run(); err != nil {
		return trace{}, fmt.Errorf("go build -n: %w", err)
	}
	return readTrace(said.String())
}

// overlaid are the files that the builds' overlay adds or replaces.
func (b *Builder) overlaid() (map[string]bool, error) {
	files := map[string]bool{}
	for _, flag := range b.Flags {
		path, ok := strings.CutPrefix(flag, "-overlay=")
		if !ok {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		var overlay struct{ Replace map[string]string }
		if err := json.Unmarshal(text, &overlay); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for file := range overlay.Replace {
			files[file] = true
		}
	}
	return files, nil
}

// isBelow reports whether a path is below a directory.
func isBelow(path, dir string) bool {
	return dir != "" && strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
