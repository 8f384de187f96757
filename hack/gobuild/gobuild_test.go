package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// module writes a program of two packages that no build cache has seen.
func module(t *testing.T) (dir string) {
	t.Helper()
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-buildvcs=false")
	dir = t.TempDir()
	write(t, dir, "go.mod", "module example.com/program\n\ngo 1.26\n")
	write(t, dir, "main.go", "package main\n\nimport \"example.com/program/part\"\n\nfunc main() { println(part.Text) }\n")
	write(t, dir, "part/part.go", fmt.Sprintf("package part\n\nconst Text = %q\n", time.Now().String()))
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestOneLineSaysWhatWasDone(t *testing.T) {
	dir := module(t)
	binary := filepath.Join(t.TempDir(), "program")
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"the first time", func() {}, `built in [0-9.ms]+ \(2 packages compiled\)`},
		{"again", func() {}, `up to date \([0-9.ms]+\)`},
		{"without its result", func() { os.Remove(binary) }, `built in [0-9.ms]+ \(nothing to compile\)`},
		{"after a change", func() { write(t, dir, "part/part.go", "package part\n\nconst Text = `"+time.Now().String()+"`\n") }, `built in [0-9.ms]+ \(2 packages compiled\)`},
	} {
		step.do()
		var out bytes.Buffer
		if code := run([]string{"-C", dir, "-o", binary, "."}, &out); code != 0 {
			t.Fatalf("%s: exit code %d: %s", step.name, code, out.String())
		}
		if want := "^" + regexp.QuoteMeta(binary) + ": " + step.want + "\n$"; !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("%s: printed %q, want %s", step.name, out.String(), want)
		}
		if err := exec.Command(binary).Run(); err != nil {
			t.Errorf("%s: the program: %v", step.name, err)
		}
	}
}

func TestErrorsAndExitCodeAreGos(t *testing.T) {
	dir := module(t)
	for name, source := range map[string]string{
		"type error":      "package part\n\nconst Text int = \"\"\nconst text string = 1\n",
		"syntax error":    "package part\n}\n",
		"missing package": "package part\n\nimport _ \"example.com/program/nothing\"\n",
		"missing module":  "package part\n\nimport _ \"example.com/nothing\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			write(t, dir, "part/part.go", source)
			cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
			cmd.Dir = dir
			want, _ := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() == 0 {
				t.Fatal("go build succeeded")
			}

			var out bytes.Buffer
			code := run([]string{"-C", dir, "-o", os.DevNull}, &out)
			if code != cmd.ProcessState.ExitCode() || out.String() != string(want) {
				t.Errorf("exit code %d, output:\n%s\nwant %d:\n%s", code, out.String(), cmd.ProcessState.ExitCode(), want)
			}
		})
	}
}

func TestLineFollowsTheBuild(t *testing.T) {
	newMeter := func(terminal bool) *meter {
		return &meter{name: "bin/x", terminal: terminal, begun: map[string]bool{}}
	}
	m := newMeter(false)
	check := func(want string) {
		t.Helper()
		if got := m.line(62 * time.Second); got != want {
			t.Errorf("line %q, want %q", got, want)
		}
	}
	check("bin/x: looking for what has changed  1m2s")
	m.download("example.com/m v1.2.3")
	check("bin/x: downloading module 1  1m2s  example.com/m v1.2.3")
	m.compile("a")
	check("bin/x: compiling package 1  1m2s  a")
	m.setStale([]string{"a", "b", "c", "main"}, "main")
	check("bin/x:  25%  1 of 4  1m2s  a")
	m.compile("b")
	check("bin/x:  50%  2 of 4  1m2s  b")
	m.compile("c")
	m.compile("main")
	check("bin/x:  99%  4 of 4  1m2s  linking")

	m = newMeter(true)
	m.compile("k8s.io/" + strings.Repeat("long/", 20) + "name")
	m.setStale([]string{"main"}, "main")
	if got := m.line(0); len(got) != lineWidth || !strings.HasPrefix(got, "bin/x: ##########----------  50%") || !strings.HasSuffix(got, "/name") {
		t.Errorf("line %q, want %d columns that begin with the bar and end with the package", got, lineWidth)
	}
}

func TestDownloadsAreCountedAndOtherMessagesPassedOn(t *testing.T) {
	var out bytes.Buffer
	m := startMeter(&out, "x")
	readMessages(strings.NewReader("go: downloading a v1\ngo: trouble\ngo: downloading b v2\nlast"), m)
	m.stop()
	if m.downloads != 2 || m.module != "b v2" {
		t.Errorf("%d downloads, the last %q", m.downloads, m.module)
	}
	if got := out.String(); got != "go: trouble\nlast" {
		t.Errorf("passed on %q", got)
	}
}
