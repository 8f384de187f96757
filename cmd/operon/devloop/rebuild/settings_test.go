package rebuild

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Modules in the directory vendor and in a workspace are sources like the project's own.
func TestAPlanGoesWithAPersonsOwnSettings(t *testing.T) {
	const imports = "\t\"example.com/p/middle\"\n"
	require := project["go.mod"] + "\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ../dep\n"
	for _, tc := range []struct {
		name, mod string
		set       func(p program)
		changed   string // below the project
	}{
		{"a vendor directory", require, func(p program) {
			cmd := exec.Command("go", "mod", "vendor")
			cmd.Dir = p.Dir
			if said, err := cmd.CombinedOutput(); err != nil {
				p.t.Fatalf("%v\n%s", err, said)
			}
			p.t.Setenv("GOFLAGS", "-mod=vendor")
		}, "vendor/example.com/dep/dep.go"},
		{"a workspace", project["go.mod"], func(p program) {
			p.write("../go.work", "go 1.26\n\nuse (\n\t./p\n\t./dep\n)\n")
			p.t.Setenv("GOWORK", "")
		}, "../dep/dep.go"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newProgram(t)
			p.Dir = filepath.Join(p.Dir, "p")
			p.Output = filepath.Join(p.Dir, "bin", "p")
			for name, text := range project {
				p.write(name, text)
			}
			p.write("bin/.keep", "")
			p.write("go.mod", tc.mod)
			p.write("../dep/go.mod", "module example.com/dep\n\ngo 1.26\n")
			p.write("../dep/dep.go", "package dep\n\nfunc Word() string { return \"one\" }\n")
			main := strings.Replace(project["cmd/main.go"], imports, imports+"\t\"example.com/dep\"\n", 1)
			p.write("cmd/main.go", strings.Replace(main, "println(", "println(dep.Word(), ", 1))
			tc.set(p)
			p.planned()
			p.write("low/word.go", "package low\n\nconst word = \"two\"\n")
			p.write(tc.changed, "package dep\n\nfunc Word() string { return \"two\" }\n")
			if err := p.rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := p.compiled(); !strings.Contains(got, "example.com/dep") || !strings.Contains(got, "low") {
				t.Errorf("compiled %s", got)
			}
			p.check()
		})
	}
}
