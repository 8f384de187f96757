package scaffold

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"

	"github.com/operon-dev/operon/cmd/operon/generate/cli"
	"github.com/operon-dev/operon/cmd/operon/generate/recipe"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
)

// examplesDir has the projects that were made by the command and finished by hand. memcached is older than the command.
const examplesDir = "../../../examples"

// TestExamplesAreWhatTheCommandMakes makes each example again, by the commands and with the files that its README names, and compares
// all of it. With UPDATE set, an example follows.
func TestExamplesAreWhatTheCommandMakes(t *testing.T) {
	dir, err := filepath.Abs(examplesDir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"guestbook", "application", "cronjob"} {
		t.Run(name, func(t *testing.T) {
			example := filepath.Join(dir, name)
			was := readRecord(t, filepath.Join(example, "README.md"))
			again := filepath.Join(t.TempDir(), name) // its name is the project's
			if err := os.Mkdir(again, 0o777); err != nil {
				t.Fatal(err)
			}
			t.Chdir(again)
			t.Setenv("GOWORK", "off")
			for _, args := range was.commands {
				if args[0] == "create" {
					args = append(slices.Clip(args), "--make=false") // generated below, of what was finished by hand
				}
				root := newRoot()
				var out bytes.Buffer
				root.SetArgs(args)
				root.SetOut(&out)
				root.SetErr(&out)
				if err := root.ExecuteContext(t.Context()); err != nil {
					t.Fatalf("operon %s: %v\n%s", strings.Join(args, " "), err, &out)
				}
			}
			scaffolded := contents(t, again)
			for _, path := range was.byHand {
				data, err := os.ReadFile(filepath.Join(example, path))
				if err != nil {
					t.Fatalf("README.md names a file that is not there: %v", err)
				}
				if path == "go.mod" {
					data = replaceLibrary(t, data, filepath.Dir(dir))
				}
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			generate(t, again)

			want, got := contents(t, again), contents(t, example)
			for _, path := range slices.Sorted(maps.Keys(want)) {
				if diff := cmp.Diff(want[path], got[path]); diff != "" {
					t.Errorf("%s has parted ways with the scaffold (-scaffold +example): UPDATE=1 takes the scaffold's, or README.md says that it was finished by hand:\n%s", path, diff)
					if os.Getenv("UPDATE") != "" {
						update(t, filepath.Join(again, path), filepath.Join(example, path))
					}
				}
				delete(got, path)
			}
			if len(got) > 0 {
				t.Errorf("%v: not of the scaffold, and README.md does not say that they were made by hand", slices.Sorted(maps.Keys(got)))
			}
			for _, path := range []string{"go.mod", "go.sum"} {
				if missing := lacking(scaffolded[path], want[path]); len(missing) > 0 {
					t.Errorf("%s lacks what the scaffold has by now:\n%s", path, strings.Join(missing, "\n"))
				}
			}
		})
	}
}

// A record is what an example's README says of how it was made.
type record struct {
	commands [][]string // arguments of operon
	byHand   []string   // paths
}

var handmade = regexp.MustCompile("(?m)^- `([^`]+)`")

func readRecord(t *testing.T, readme string) record {
	t.Helper()
	data, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(data), "## Made with\n")
	made, byHand, ok2 := strings.Cut(text, "## Finished by hand\n")
	if !ok || !ok2 {
		t.Fatalf("%s does not say what the example was made with, and what was finished by hand", readme)
	}
	var r record
	for line := range strings.Lines(made) {
		if args, ok := strings.CutPrefix(line, "operon "); ok {
			r.commands = append(r.commands, strings.Fields(args))
		}
	}
	for _, match := range handmade.FindAllStringSubmatch(byHand, -1) {
		r.byHand = append(r.byHand, match[1])
	}
	return r
}

// generate does what the project's make generate manifests does.
func generate(t *testing.T, root string) {
	t.Helper()
	recipes, err := recipe.Of(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range recipes {
		var out bytes.Buffer
		if code := cli.Main(args, &out, &out); code != 0 {
			t.Fatalf("controller-gen %s: %s", strings.Join(args, " "), &out)
		}
	}
}

// passing is what is not the same every day: the year.
var passing = regexp.MustCompile(`(Copyright )\d{4}`)

// contents are the files of a project, without what is passing or depends on where it is. What git ignores is left out.
func contents(t *testing.T, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path == "bin" || path == "dist" {
				return fs.SkipDir
			}
			return nil
		}
		data, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return err
		}
		if path == "go.mod" {
			data = replaceLibrary(t, data, "../..")
		}
		files[path] = passing.ReplaceAllString(string(data), "${1}...")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// replaceLibrary is a go.mod that has the library in a directory.
func replaceLibrary(t *testing.T, gomod []byte, dir string) []byte {
	t.Helper()
	file, err := modfile.Parse("go.mod", gomod, nil)
	if err == nil {
		err = file.AddReplace(origin.Library, "", dir, "")
	}
	if err == nil {
		gomod, err = file.Format()
	}
	if err != nil {
		t.Fatal(err)
	}
	return gomod
}

// lacking are the lines of a file that another one does not have.
func lacking(lines, in string) []string {
	var missing []string
	for line := range strings.Lines(lines) {
		if !strings.Contains(in, line) {
			missing = append(missing, strings.TrimSpace(line))
		}
	}
	return missing
}

// update writes a file of the scaffold over that of an example.
func update(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil && filepath.Base(from) == "go.mod" {
		data = replaceLibrary(t, data, "../..")
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o777)
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o666)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("update: %w", err))
	}
}
