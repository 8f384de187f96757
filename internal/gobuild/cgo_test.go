package gobuild

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

func TestCgoIsLeftOutWhereNothingIsLost(t *testing.T) {
	plain := "package main\n\nimport _ \"net/http\"\n\nfunc main() {}\n"
	inC := "package main\n\n// int one(void) { return 1; }\nimport \"C\"\n\nfunc one() int { return int(C.one()) }\n"
	below := "package main\n\nimport _ \"example.com/p/below\"\n"
	for _, tt := range []struct {
		name     string
		setting  string
		compiler bool
		files    map[string]string
		want     []string
	}{
		{"only Go's own packages have a part in C", "", true, map[string]string{"main.go": plain}, []string{"CGO_ENABLED=0"}},
		{"no C compiler", "", false, map[string]string{"main.go": plain}, nil},
		{"the environment wants it", "1", true, map[string]string{"main.go": plain}, nil},
		{"the environment does not want it", "0", true, map[string]string{"main.go": plain}, nil},
		{"the program has a part in C", "", true, map[string]string{"main.go": plain, "c.go": inC}, nil},
		{"a package that it imports has one", "", true, map[string]string{"main.go": plain, "import.go": below, "below/c.go": inC}, nil},
		{"the code cannot be read", "", true, map[string]string{"main.go": "package main\n\nimport \"\n"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.files["go.mod"] = "module example.com/p\n\ngo 1.26\n"
			for name, text := range tt.files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			// Go looks for a C compiler on PATH, and need not find a real one: nothing is compiled here.
			path := t.TempDir()
			command, err := exec.LookPath("go")
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(command, filepath.Join(path, "go")); err != nil {
				t.Fatal(err)
			}
			if tt.compiler {
				for _, name := range []string{"gcc", "clang"} {
					if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n"), 0o777); err != nil {
						t.Fatal(err)
					}
				}
			}
			t.Setenv("PATH", path)
			t.Setenv("CC", "")
			t.Setenv("GOFLAGS", "")
			t.Setenv("GOWORK", "off")
			t.Setenv("CGO_ENABLED", tt.setting)
			if got := WithoutCgo(t.Context(), dir, "."); !slices.Equal(got, tt.want) {
				t.Errorf("WithoutCgo = %q, want %q", got, tt.want)
			}
		})
	}
}
