package rebuild

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/operon-dev/operon/cmd/operon/devloop/child"
	"github.com/operon-dev/operon/cmd/operon/devloop/stamp"
)

// A job is what a rebuild does for one unit. Its results are there when done is closed.
type job struct {
	changed bool
	state   state
	done    chan struct{}
	archive string // the new one, if any
	export  digest
	err     error
}

// rebuild follows the plan.
func (b *Builder) rebuild(ctx context.Context) error {
	p := b.plan
	if !p.modules.same() {
		return errUnplanned
	}
	jobs := map[*unit]*job{}
	for _, u := range p.packages {
		changed, state, err := u.changed()
		if err != nil {
			return err
		}
		jobs[u] = &job{changed: changed, state: state, done: make(chan struct{})}
	}
	// All packages at the same time, each as soon as those are ready that it imports.
	compiling, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	for _, u := range p.packages {
		archive := b.archive()
		running.Go(func() {
			j := jobs[u]
			defer close(j.done)
			if j.err = p.compile(compiling, u, jobs, archive); j.err != nil {
				stop()
			}
		})
	}
	running.Wait()
	archives, relink := maps.Clone(p.archives), false
	var failed error
	for u, j := range jobs {
		if j.archive != "" {
			archives[u.path], relink = j.archive, true
		}
		failed = errors.Join(failed, j.err)
	}
	// The first time the archives may be of later files than the binary: one that was saved while the plan was made.
	if failed == nil && (relink || p.output == stamp.Stamp{} || p.output != stamp.Of(b.Output)) {
		failed = b.relink(ctx, archives)
	}
	if failed != nil {
		for _, j := range jobs {
			if j.archive != "" {
				os.Remove(j.archive)
			}
		}
		return failed
	}
	for u, j := range jobs {
		u.state = j.state
		if j.archive == "" {
			continue
		}
		if u.own {
			os.Remove(p.archives[u.path])
		}
		u.own, u.export = true, j.export
	}
	p.archives, p.output = archives, stamp.Of(b.Output)
	return nil
}

// compile makes the archive of a unit, if that is to be another one.
func (p *plan) compile(ctx context.Context, u *unit, jobs map[*unit]*job, archive string) error {
	j := jobs[u]
	compile := j.changed
	archives := map[string]string{}
	for _, imported := range u.imports {
		i := jobs[imported]
		<-i.done
		if i.err != nil {
			return i.err
		}
		if i.archive != "" {
			archives[imported.path] = i.archive
			compile = compile || i.export != imported.export
		}
	}
	if !compile {
		return nil
	}
	if u.compile == nil {
		return fmt.Errorf("%w: %s is not of Go files alone", errUnplanned, u.path)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s := *u.compile
	inConfig(s.config, func(path, _ string) {
		if archives[path] == "" {
			archives[path] = p.archives[path]
		}
	})
	if err := s.run(ctx, s.dir, p.env, archive, withArchives(s.config, archives)); err != nil {
		os.Remove(archive)
		return err
	}
	var err error
	if j.export, err = exportOf(archive); err != nil {
		return err
	}
	j.archive = archive
	return nil
}

// relink makes the binary of archives.
func (b *Builder) relink(ctx context.Context, archives map[string]string) error {
	p := b.plan
	s := p.link
	s.args = slices.Clone(s.args)
	s.args[len(s.args)-1] = archives[p.main]
	dir := s.dir
	if dir == "" {
		dir = b.Dir
	}
	next := b.Output + ".next"
	if err := s.run(ctx, dir, p.env, next, withArchives(s.config, archives)); err != nil {
		os.Remove(next)
		return err
	}
	return os.Rename(next, b.Output)
}

// run makes a step, whose result is to be at the path out.
func (s step) run(ctx context.Context, dir string, env []string, out, config string) error {
	importcfg := out + ".importcfg"
	if err := os.WriteFile(importcfg, []byte(config), 0o600); err != nil {
		return err
	}
	defer os.Remove(importcfg)
	args := slices.Clone(s.args)
	args[s.option("-o")], args[s.option("-importcfg")] = out, importcfg
	cmd := child.Command(ctx, dir, env, args[0], args[1:]...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", args[0], err, said)
	}
	return nil
}

// exportOf is the digest of what an archive tells the compilers of other packages, and the linker about its version: all that they look at but
// the code. It leaves the build ID out, which is another one for each content.
func exportOf(archive string) (digest, error) {
	file, err := os.Open(archive)
	if err != nil {
		return digest{}, err
	}
	defer file.Close()
	// An archive begins with a line, and each member with 60 bytes: the name in 16, the size in ten beginning at 48.
	const magic = "!<arch>\n"
	head := make([]byte, len(magic)+60)
	if _, err := file.Read(head); err != nil {
		return digest{}, fmt.Errorf("%s: %w", archive, err)
	}
	member := head[len(magic):]
	size, err := strconv.Atoi(strings.TrimSpace(string(member[48:58])))
	if err != nil || !bytes.HasPrefix(head, []byte(magic)) || !bytes.HasPrefix(member, []byte("__.PKGDEF ")) {
		return digest{}, fmt.Errorf("%s: not an archive of the Go compiler", archive)
	}
	text := make([]byte, size)
	if _, err := file.ReadAt(text, int64(len(head))); err != nil {
		return digest{}, fmt.Errorf("%s: %w", archive, err)
	}
	header, export, ok := bytes.Cut(text, []byte("\n$$"))
	if !ok {
		return digest{}, fmt.Errorf("%s: no export data", archive)
	}
	hash := sha256.New()
	for line := range bytes.Lines(header) {
		if !bytes.HasPrefix(line, []byte("build id ")) {
			hash.Write(line)
		}
	}
	hash.Write(export)
	return digest(hash.Sum(nil)), nil
}
