package rebuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operon-dev/operon/internal/gobuild"
)

// The flags leave the build ID out of the binary: it is another one for each way to the same content.
var flags = append(gobuild.CompilerFlags(), "-ldflags=-s -w -buildid=", "-buildvcs=false")

// project is a program of some packages.
var project = map[string]string{
	"go.mod":          "module example.com/p\n\ngo 1.26\n",
	"cmd/main.go":     "package main\n\nimport (\n\t\"example.com/p/embeds\"\n\t\"example.com/p/middle\"\n)\n\nfunc main() { println(middle.Say(), middle.Aloud().Text, embeds.Text) }\n",
	"middle/say.go":   "package middle\n\nimport \"example.com/p/low\"\n\n// Say says it.\nfunc Say() string { return low.Word() + low.Word() }\n",
	"middle/aloud.go": "package middle\n\nimport \"example.com/p/low\"\n\ntype Saying struct {\n\tTone low.Tone\n\tText string\n}\n\nfunc Aloud() Saying { return Saying{Text: Say()} }\n",
	"low/tone.go":     "package low\n\ntype Tone struct{ Pitch int }\n",
	"low/low.go":      "package low\n\nfunc Word() string { return word }\n",
	"low/word.go":     "package low\n\nconst word = \"one\"\n",
	"embeds/go.go":    "package embeds\n\nimport _ \"embed\"\n\n//go:embed text.txt\nvar Text string\n",
	"embeds/text.txt": "text\n",
}

type program struct {
	*Builder
	t *testing.T
}

func newProgram(t *testing.T) program {
	t.Helper()
	for name, value := range map[string]string{"GOWORK": "off", "GOFLAGS": "", "CGO_ENABLED": "0"} {
		t.Setenv(name, value)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := program{&Builder{Dir: dir, Package: "./cmd", Output: filepath.Join(dir, "bin", "p"), Temp: t.TempDir(), Flags: flags}, t}
	for name, text := range project {
		p.write(name, text)
	}
	p.write("bin/.keep", "")
	t.Cleanup(p.Stop)
	return p
}

func (p program) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.Dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
		p.t.Fatal(err)
	}
}

// planned builds, and makes a plan.
func (p program) planned() {
	p.t.Helper()
	if err := p.Build(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	p.Plan(p.t.Context())
	p.working.Wait()
	if p.plan == nil {
		_, err := p.newPlan(p.t.Context())
		p.t.Fatalf("no plan: %v", err)
	}
}

// check compares the binary with the one that go build makes.
func (p program) check() {
	p.t.Helper()
	want := filepath.Join(p.Temp, "want")
	cmd := exec.Command("go", append(append([]string{"build", "-o", want}, p.Flags...), p.Package)...)
	cmd.Dir = p.Dir
	if said, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%v\n%s", err, said)
	}
	if !bytes.Equal(p.read(p.Output), p.read(want)) {
		p.t.Error("the binary is not the one that go build makes")
	}
}

func (p program) read(path string) []byte {
	p.t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	return content
}

// compiled are the packages that rebuilds have compiled since the plan was made.
func (p program) compiled() string {
	var paths []string
	for _, u := range p.plan.packages {
		if u.own {
			paths = append(paths, strings.TrimPrefix(u.path, "example.com/p/"))
		}
	}
	return fmt.Sprint(paths)
}

func TestARebuildMakesWhatGoBuildMakes(t *testing.T) {
	for _, tc := range []struct {
		name     string
		change   map[string]string
		compiled string // if not empty
	}{
		{"of nothing new", map[string]string{}, "[]"},
		{"of a changed function", map[string]string{"middle/say.go": strings.Replace(project["middle/say.go"], "low.Word() + low.Word()", "low.Word()", 1)}, "[middle]"},
		{"of a changed main package", map[string]string{"cmd/main.go": strings.Replace(project["cmd/main.go"], "middle.Say(),", "middle.Say(), 1,", 1)}, "[cmd]"},
		{"of what others import", map[string]string{
			"low/low.go":    "package low\n\nfunc Word() []byte { return []byte(word) }\n",
			"middle/say.go": strings.Replace(project["middle/say.go"], "low.Word() + low.Word()", "string(low.Word())", 1),
		}, "[low middle]"},
		{"of a function that is new to the importers", map[string]string{"middle/say.go": project["middle/say.go"] + "\nfunc More() {}\n"}, "[middle cmd]"},
		{"of a struct that is part of another package's", map[string]string{"low/tone.go": "package low\n\ntype Tone struct{ Pitch, Volume int }\n"}, "[low middle cmd]"},
		{"of several files", map[string]string{"low/word.go": "package low\n\nvar word = \"two\"\n", "low/low.go": "package low\n\nfunc Word() string { return word + word }\n"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newProgram(t)
			p.planned()
			for name, text := range tc.change {
				p.write(name, text)
			}
			if err := p.rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := p.compiled(); tc.compiled != "" && got != tc.compiled {
				t.Errorf("compiled %s, want %s", got, tc.compiled)
			}
			p.check()
		})
	}
}

func TestWhatAPlanDoesNotCoverIsForGoBuild(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(p program)
	}{
		{"an import", func(p program) {
			p.write("low/low.go", "package low\n\nimport \"strconv\"\n\nfunc Word() string { return strconv.Quote(word) }\n")
		}},
		{"another file", func(p program) { p.write("low/more.go", "package low\n\nfunc init() { println() }\n") }},
		{"a file that has gone", func(p program) {
			p.write("low/low.go", "package low\n\nfunc Word() string { return \"two\" }\n")
			if err := os.Remove(filepath.Join(p.Dir, "low/word.go")); err != nil {
				p.t.Fatal(err)
			}
		}},
		{"a build constraint", func(p program) {
			p.write("low/word.go", "//go:build !linux && !darwin\n\npackage low\n\nconst word = \"one\"\n")
			p.write("low/here.go", "package low\n\nconst word = \"here\"\n")
		}},
		{"a directive for the go command", func(p program) { p.write("cmd/main.go", "//go:debug panicnil=1\n"+project["cmd/main.go"]) }},
		{"an embedded file", func(p program) { p.write("embeds/text.txt", "another\n") }},
		{"a package with an embedded file", func(p program) { p.write("embeds/go.go", project["embeds/go.go"]+"\nfunc init() { println() }\n") }},
		{"go.mod", func(p program) { p.write("go.mod", "module example.com/p\n\ngo 1.25\n") }},
		{"an archive that has gone", func(p program) {
			p.write("middle/say.go", project["middle/say.go"]+"\nfunc More() {}\n")
			p.plan.archives["example.com/p/low"] = filepath.Join(p.Temp, "gone")
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newProgram(t)
			p.planned()
			tc.change(p)
			if err := p.rebuild(t.Context()); err == nil {
				t.Error("there was a plan for it")
			}
			if err := p.Build(t.Context()); err != nil {
				t.Fatal(err)
			}
			p.check()
		})
	}
}

func TestAMistakeIsToldByGoBuildAndLeavesTheBinary(t *testing.T) {
	p := newProgram(t)
	p.planned()
	before := p.read(p.Output)
	p.write("middle/say.go", strings.Replace(project["middle/say.go"], "low.Word() + low.Word()", "7 + len(low.Word())", 1))
	err := p.Build(t.Context())
	var mistake *Mistake
	if !errors.As(err, &mistake) || !strings.Contains(string(mistake.Said), "# example.com/p/middle\nmiddle/say.go:6:28: ") {
		t.Fatalf("%v: %s", err, mistake.Said)
	}
	if !bytes.Equal(p.read(p.Output), before) {
		t.Error("there is another binary")
	}
	p.write("middle/say.go", strings.Replace(project["middle/say.go"], "low.Word() + low.Word()", "low.Word()", 1))
	if err := p.rebuild(t.Context()); err != nil {
		t.Errorf("the plan is not followed after a mistake: %v", err)
	}
	p.check()
}

func TestABinaryThatSomebodyElseHasReplacedIsMadeAgain(t *testing.T) {
	p := newProgram(t)
	p.planned()
	p.write("bin/p", "something else")
	if err := p.rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.check()
}

// A file may be saved when the binary is there and the plan is not.
func TestWhatIsSavedWhileThePlanIsMadeIsBuilt(t *testing.T) {
	p := newProgram(t)
	if err := p.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.write("low/word.go", "package low\n\nconst word = \"two\"\n")
	p.Plan(t.Context())
	p.working.Wait()
	if err := p.rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.check()
}

func TestWhatIsBuiltAheadIsDone(t *testing.T) {
	p := newProgram(t)
	p.planned()
	p.write("low/word.go", "package low\n\nconst word = \"two\"\n")
	p.Ahead(t.Context())
	if err := p.Build(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(p.compiled(), "[low") {
		t.Errorf("compiled %s", p.compiled())
	}
	p.check()

	// What is saved meanwhile is built as well, whether the work ahead comes to its end or not.
	for _, word := range []string{"three", "four"} {
		p.Ahead(t.Context())
		p.write("low/word.go", "package low\n\nconst word = \""+word+"\"\n")
		if word == "four" {
			p.Stop()
		}
		if err := p.Build(t.Context()); err != nil {
			t.Fatal(err)
		}
		p.check()
	}
}

func TestABuildEndsWithItsContext(t *testing.T) {
	p := newProgram(t)
	p.planned()
	ctx, cancel := context.WithCancelCause(t.Context())
	want := errors.New("enough")
	cancel(want)
	p.write("low/word.go", "package low\n\nconst word = \"two\"\n")
	if err := p.Build(ctx); !errors.Is(err, want) {
		t.Errorf("Build = %v", err)
	}
}
