package upgrade

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/operon-dev/operon/cmd/operon/scaffold"
	"github.com/operon-dev/operon/cmd/operon/scaffold/internal/scripttest"
	"github.com/operon-dev/operon/cmd/operon/scaffold/project"
	"github.com/operon-dev/operon/cmd/operon/scaffold/templates"
)

// TestMain lets scripts run the verb as the program "operon", with two made-up scaffolds: "older" is the one that is known to have been there before.
// "remake" has the files of the project in the current directory be those of the older one.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"operon": operon, "remake": remake})
}

// The made-up scaffolds are that of now with differences. Each is an edit of a template: what becomes what; to nothing where the template is not there.
type edit struct{ template, from, to string }

var (
	olderEdits = []edit{
		{"init/Dockerfile", "gcr.io/distroless/static:nonroot", "gcr.io/distroless/base:nonroot"},
		{"init/Makefile", "go vet ./...", "go vet ./older/..."},
		{"init/main.go", "func main() {", "func main() { // older"},
		{"init/README.md", "# ", "# Older "},
		{"init/gitignore", "", "older/\n"},
		{"init/config/prometheus/monitor.yaml", "", "# older\n"},
		{"api/controller.go", "", "\n// older\n"},
		{"init/config/network-policy/allow-metrics-traffic.yaml", "*", ""},
	}
	newerEdits = []edit{
		{"init/config/rbac/service_account.yaml", "*", ""},
		{"init/config/rbac/role_binding.yaml", "*", ""},
	}
)

// made returns the templates of now with some edits.
func made(name string, edits []edit) (templates.Set, error) {
	data, err := templates.Pack()
	if err != nil {
		return templates.Set{}, err
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return templates.Set{}, err
	}
	files := fstest.MapFS{}
	err = fs.WalkDir(archive, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(archive, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		return templates.Set{}, err
	}
	for _, e := range edits {
		path := e.template + ".tmpl"
		file := files[path]
		switch {
		case file == nil || !bytes.Contains(file.Data, []byte(e.from)) && e.from != "*":
			return templates.Set{}, fmt.Errorf("the template %s has no %q any more: have the test change something else", e.template, e.from)
		case e.from == "*":
			delete(files, path)
		case e.from == "":
			file.Data = append(file.Data, e.to...)
		default:
			file.Data = bytes.Replace(file.Data, []byte(e.from), []byte(e.to), 1)
		}
	}
	return templates.FromFS(name, files), nil
}

func operon() {
	older, err := made("older", olderEdits)
	now, nowErr := made("", newerEdits)
	cmd := &cobra.Command{Use: "operon", SilenceErrors: true, SilenceUsage: true}
	cmd.AddCommand(scaffold.NewCommands()...)
	cmd.AddCommand(newCommand(Options{Known: []templates.Set{older}, Now: now}))
	if err := errors.Join(err, nowErr); err == nil {
		err = cmd.ExecuteContext(context.Background())
		if err == nil {
			return
		}
		fmt.Fprintln(os.Stderr, "operon:", err)
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

func remake() {
	err := func() error {
		older, err := made("older", olderEdits)
		if err != nil {
			return err
		}
		p, err := project.Find(".")
		if err != nil {
			return err
		}
		from, err := libraryOf(p)
		if err != nil {
			return err
		}
		now, err := scaffold.Regenerate(p, from, templates.Set{})
		if err != nil {
			return err
		}
		files, err := scaffold.Regenerate(p, from, older)
		if err != nil {
			return err
		}
		for path := range now {
			if err := os.Remove(filepath.Join(p.Root(), path)); err != nil {
				return err
			}
		}
		for path, content := range files {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(p.Root(), path)), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(p.Root(), path), []byte(content), 0o644); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			err := scripttest.Setup(env)
			env.Setenv("GOPROXY", "off")
			return err
		},
		Cmds:                scripttest.Commands(map[string]func(*testscript.TestScript, bool, []string){"edit": replaceIn}),
		RequireExplicitExec: true,
	})
}

// replaceIn replaces, in the file that is the first argument, the second by the third.
func replaceIn(ts *testscript.TestScript, _ bool, args []string) {
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q:\n%s", args[0], args[1], text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], strings.ReplaceAll(args[2], `\n`, "\n"), 1)), 0o644))
}
