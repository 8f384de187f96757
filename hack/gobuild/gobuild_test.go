package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
		if code := run(t.Context(), []string{"-C", dir, "-o", binary, "."}, &out); code != 0 {
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
			code := run(t.Context(), []string{"-C", dir, "-o", os.DevNull}, &out)
			if code != cmd.ProcessState.ExitCode() || out.String() != string(want) {
				t.Errorf("exit code %d, output:\n%s\nwant %d:\n%s", code, out.String(), cmd.ProcessState.ExitCode(), want)
			}
		})
	}
}
