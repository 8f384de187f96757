package gobuild

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSettingsThatKeepGoFromBuildingAreNamedWithTheWayOut(t *testing.T) {
	const module = "module example.com/p\n\ngo 1.26\n"
	for _, tc := range []struct {
		name  string
		files map[string]string // besides go.mod and main.go, relative to the project
		env   []string          // in which DIR stands for the project's directory
		want  []string
	}{
		{name: "none", env: []string{"GOWORK=off"}},
		{name: "code that does not compile", files: map[string]string{"main.go": "package main\n\nfunc main() { 7 }\n"}},
		{name: "a workspace that lists the project", files: map[string]string{"../go.work": "go 1.26\n\nuse ./p\n"}},
		{
			name:  "a workspace above that does not list the project",
			files: map[string]string{"../go.work": "go 1.26\n\nuse ./other\n", "../other/go.mod": "module example.com/other\n\ngo 1.26\n"},
			want:  []string{"../go.work", "GOWORK=off", "go work use"},
		},
		{
			name:  "a workspace elsewhere that does not list the project",
			files: map[string]string{"../other/go.work": "go 1.26\n\nuse .\n", "../other/go.mod": "module example.com/other\n\ngo 1.26\n"},
			env:   []string{"GOWORK=DIR/../other/go.work"},
			want:  []string{"../other/go.work", "GOWORK=off", "go work use"},
		},
		{name: "a workspace that is not there", env: []string{"GOWORK=DIR/../nothing/go.work"}, want: []string{"../nothing/go.work", "GOWORK=off"}},
		{
			name:  "a workspace whose module is not there",
			files: map[string]string{"../go.work": "go 1.26\n\nuse (\n\t./p\n\t./gone\n)\n"},
			want:  []string{"../go.work", "GOWORK=off"},
		},
		{
			name:  "a workspace, and -mod=mod",
			files: map[string]string{"../go.work": "go 1.26\n\nuse ./p\n"},
			env:   []string{"GOFLAGS=-mod=mod"},
			want:  []string{`GOFLAGS="-mod=mod"`, "GOWORK=off"},
		},
		{name: "-mod=vendor without need", env: []string{"GOFLAGS=-mod=vendor", "GOWORK=off"}},
		{
			name: "-mod=vendor without the directory",
			files: map[string]string{
				"go.mod":  module + "\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ./dep\n",
				"main.go": "package main\n\nimport _ \"example.com/dep\"\n\nfunc main() {}\n", "dep/go.mod": "module example.com/dep\n", "dep/dep.go": "package dep\n",
			},
			env:  []string{"GOFLAGS=-mod=vendor", "GOWORK=off"},
			want: []string{"go mod vendor", "GOFLAGS=-mod=mod"},
		},
		{name: "a flag that there is not", env: []string{"GOFLAGS=-nonsense"}, want: []string{`GOFLAGS="-nonsense"`}},
		{
			name:  "a module cache that cannot be written",
			files: map[string]string{"go.mod": module + "\nrequire example.com/dep v1.0.0\n", "main.go": "package main\n\nimport _ \"example.com/dep\"\n\nfunc main() {}\n"},
			env:   []string{"GOWORK=off", "GOMODCACHE=DIR/main.go/cache", "GOPROXY=file://DIR/proxy", "GONOSUMDB=*", "GOFLAGS=-mod=mod"},
			want:  []string{"/p/main.go/cache", "GOMODCACHE"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			temp, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(temp, "p")
			files := map[string]string{"go.mod": module, "main.go": "package main\n\nfunc main() {}\n"}
			for name, text := range tc.files {
				files[name] = text
			}
			for name, text := range files {
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			env := append(os.Environ(), "GOWORK=", "GOFLAGS=")
			for _, setting := range tc.env {
				env = append(env, strings.ReplaceAll(setting, "DIR", dir))
			}
			err = Check(t.Context(), dir, ".", env)
			if (err == nil) != (len(tc.want) == 0) {
				t.Fatalf("Check = %v", err)
			}
			for _, want := range tc.want {
				if rest, ok := strings.CutPrefix(want, ".."); ok {
					want = temp + rest
				}
				if !strings.Contains(strings.ReplaceAll(err.Error(), dir+"/..", temp), want) {
					t.Errorf("Check = %v\nwithout %s", err, want)
				}
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("more than a sentence: %v", err)
			}
		})
	}
}
