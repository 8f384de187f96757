package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/gomodule"
)

// A trial is a plan as Go sees it, while nothing of it is written: an overlay of the files, and a go.mod beside it.
type trial struct {
	root, dir string
	// names are the project's names of the files in dir.
	names map[string]string
}

// verify completes go.mod, and compiles the plan with its tests.
func (p *Plan) verify(ctx context.Context, opts Options, say func(string)) error {
	dir, err := os.MkdirTemp("", "operon-migrate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := trial{root: p.Set.Root(), dir: dir, names: map[string]string{}}
	if err := t.write(p.Set); err != nil {
		return err
	}
	say("Working out go.mod ...")
	tidyErr := t.tidy(ctx, p.Set)
	if tidyErr != nil {
		p.note("go mod tidy is still to be run: here it ended with %q", tidyErr.Error())
	}
	var buildErr error
	if !opts.NoBuild {
		say("Compiling the result, tests included ...")
		// That compiles packages and tests like go vet, but does not look into what they depend on.
		buildErr = t.run(ctx, nil, "list", "-export", "-test", "-f", "{{/* nothing */}}", "./...")
	}
	var libraries []string
	if tidyErr == nil {
		if libraries, err = t.libraries(ctx, p.module); err != nil {
			return err
		}
	}
	held, err := p.heldBack()
	if err != nil {
		return err
	}
	for _, sentence := range held {
		p.note("%s", sentence)
	}
	advice := ""
	if len(libraries) > 0 && !opts.Compat {
		advice = fmt.Sprintf("%s import %s too, and their types of it are not Operon's", strings.Join(libraries, ", "), gomodule.ControllerRuntime)
		if len(libraries) == 1 {
			advice = strings.Replace(strings.Replace(advice, " import ", " imports ", 1), "their types", "its types", 1)
		}
		p.note("%s: with operon migrate --compat they are", advice)
	}
	if buildErr == nil {
		return nil
	}
	if tidyErr != nil && len(held) > 0 {
		return fmt.Errorf("nothing is changed, since go.mod can't be completed: %w; what holds it back: %s", tidyErr, strings.Join(held, "; "))
	}
	if tidyErr != nil {
		return fmt.Errorf("nothing is changed, since go.mod can't be completed: %w: check that Go can download modules, or compile the rest yourself with --no-build", tidyErr)
	}
	say(buildErr.Error())
	message := "nothing is changed, since the result does not compile: mend that in the project as it is, if that can be, or have everything else moved with --no-build and mend it then"
	if len(held) > 0 {
		message += "; what may be the cause: " + strings.Join(held, "; ")
	}
	if advice != "" {
		message += "; " + advice + ": try --compat first"
	}
	return errors.New(message)
}

// write writes a plan down for Go.
func (t trial) write(set *fileset.Set) error {
	overlay := map[string]string{}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := set.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(t.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for i, c := range set.Changes() {
		if c.Path == "go.mod" || c.Path == "go.sum" {
			continue
		}
		if c.Op == fileset.Removed {
			overlay[filepath.Join(t.root, c.Path)] = ""
			continue
		}
		text, err := set.Read(c.Path)
		if err != nil {
			return err
		}
		name := filepath.Join(t.dir, fmt.Sprintf("%d%s", i, filepath.Ext(c.Path)))
		overlay[filepath.Join(t.root, c.Path)] = name
		t.names[filepath.Base(name)] = c.Path
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			return err
		}
	}
	data, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		return err
	}
	return os.WriteFile(t.overlay(), data, 0o600)
}

func (t trial) overlay() string { return filepath.Join(t.dir, "overlay.json") }

// tidy runs go mod tidy, and takes what it makes of go.mod and go.sum into the plan.
func (t trial) tidy(ctx context.Context, set *fileset.Set) error {
	if err := t.run(ctx, nil, "mod", "tidy"); errors.Is(err, exec.ErrNotFound) {
		return errors.New("go is not installed")
	} else if err != nil {
		// What a tidy that failed has left is not to be built on.
		return errors.Join(lastLine(err), t.write(set))
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(t.dir, name))
		if err != nil {
			return err
		}
		if err := set.Create(name, string(data)); err != nil {
			return err
		}
	}
	return nil
}

// libraries are the modules, other than the project's, of which it uses a package that imports controller-runtime.
func (t trial) libraries(ctx context.Context, module string) ([]string, error) {
	var out bytes.Buffer
	format := `{{with .Module}}{{.Path}}{{end}} {{join .Imports " "}}`
	if err := t.run(ctx, &out, "list", "-e", "-deps", "-test", "-f", format, "./..."); err != nil {
		return nil, lastLine(err)
	}
	var found []string
	for line := range strings.Lines(out.String()) {
		owner, imported, _ := strings.Cut(strings.TrimSpace(line), " ")
		if owner == "" || owner == module || owner == gomodule.ControllerRuntime || slices.Contains(found, owner) {
			continue
		}
		if slices.ContainsFunc(strings.Fields(imported), func(path string) bool { return isOf(path, gomodule.ControllerRuntime) }) {
			found = append(found, owner)
		}
	}
	slices.Sort(found)
	return found, nil
}

// run runs a command of Go on the plan. Its error has what Go said.
func (t trial) run(ctx context.Context, stdout *bytes.Buffer, args ...string) error {
	verb := 1
	if args[0] == "mod" {
		verb = 2
	}
	flags := []string{"-modfile=" + filepath.Join(t.dir, "go.mod"), "-overlay=" + t.overlay()}
	if args[0] != "mod" {
		flags = append(flags, "-mod=mod", "-buildvcs=false")
	}
	cmd := exec.CommandContext(ctx, "go", slices.Concat(args[:verb], flags, args[verb:])...)
	cmd.Dir = t.root
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if stdout != nil {
		cmd.Stdout = stdout
	}
	err := cmd.Run()
	if err == nil || stderr.Len() == 0 {
		return err
	}
	return errors.New(t.plain(stderr.String()))
}

// shownLines is how much of what the compiler says is passed on.
const shownLines = 30

// plain has what Go says name the project's files instead of the plan's, and no more of it than can be read.
func (t trial) plain(said string) string {
	var lines []string
	written := regexp.MustCompile(`\S*` + regexp.QuoteMeta(filepath.Base(t.dir)) + `[/\\]([\w.]+)`)
	said = written.ReplaceAllStringFunc(said, func(name string) string {
		name = filepath.Base(name)
		if path, ok := t.names[name]; ok {
			return path
		}
		return name
	})
	for line := range strings.Lines(said) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "go: downloading ") || strings.HasPrefix(line, "go: found ") || strings.HasPrefix(line, "go: finding ") {
			continue
		}
		lines = append(lines, line)
	}
	if more := len(lines) - shownLines; more > 0 {
		lines = append(lines[:shownLines], fmt.Sprintf("... and %d lines more", more))
	}
	return strings.Join(lines, "\n")
}

// lastLine is the line of what Go says that tells most: the last one, but for what a proxy adds to it, and with the list that it may begin.
func lastLine(err error) error {
	if err == nil {
		return nil
	}
	var last string
	list := false
	for line := range strings.Lines(err.Error()) {
		switch line = strings.TrimSpace(line); {
		case line == "" || last != "" && strings.HasPrefix(line, "server response:"):
		case list:
			last += " " + line
		default:
			last, list = line, strings.HasSuffix(line, "in multiple modules:")
		}
	}
	return errors.New(last)
}
