package house

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/internal/gobuild"
)

var update = flag.Bool("update", false, "rewrite deps.txt from what the library imports now")

const (
	root     = "../.."
	maxLines = 800
)

// goFiles returns the paths of the repository's hand-written Go files, relative to root.
func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, "zz_generated") {
			rel, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files = append(files, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("found %d Go files below %s: not the repository", len(files), root)
	}
	return files
}

func TestEveryPackageHasAPackageComment(t *testing.T) {
	documented := map[string]bool{}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		dir := filepath.ToSlash(filepath.Dir(file))
		documented[dir] = documented[dir] || hasPackageComment(f)
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s: no package comment; add a doc.go that names its nouns, its guarantees and what it does not guarantee", dir)
		}
	}
}

func hasPackageComment(f *ast.File) bool {
	if f.Doc == nil {
		return false
	}
	first, _, _ := strings.Cut(f.Doc.Text(), "\n")
	return strings.HasPrefix(first, "Package "+f.Name.Name+" ") || f.Name.Name == "main" && strings.HasPrefix(first, "Command ")
}

func TestNoFileOutgrowsItsBound(t *testing.T) {
	for _, file := range goFiles(t) {
		data, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), "\n"); n > maxLines {
			t.Errorf("%s: %d lines, at most %d; split it by what it holds", file, n, maxLines)
		}
	}
}

func TestNamesSayWhatIsInside(t *testing.T) {
	empty := []string{"util", "utils", "helper", "helpers", "common", "types", "misc"}
	for _, file := range goFiles(t) {
		parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(file, ".go"), "_test"), "/")
		for _, part := range parts {
			if slices.Contains(empty, part) {
				t.Errorf("%s: %q says nothing about what is inside; name it for what it holds", file, part)
			}
		}
	}
}

// list runs go list in the library's module as its users see it, outside the workspace.
func list(t *testing.T, args ...string) []string {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list"}, args...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	return slices.Compact(lines)
}

func TestLibraryImportsNeitherTheCommandNorKubernetesItself(t *testing.T) {
	for _, pkg := range list(t, "-deps", "./...") {
		for _, heavy := range []string{
			"github.com/operon-dev/operon/cmd", "k8s.io/kubernetes", "k8s.io/apiserver", "k8s.io/kubectl", "github.com/google/cel-go",
			"sigs.k8s.io/controller-runtime", "sigs.k8s.io/kustomize", "helm.sh",
		} {
			if pkg == heavy || strings.HasPrefix(pkg, heavy+"/") {
				t.Errorf("the library imports %s: an operator must not inherit it", pkg)
			}
		}
	}
}

func TestDependenciesAreTheListedOnes(t *testing.T) {
	modules := list(t, "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "./...")
	got := strings.Join(modules, "\n") + "\n"
	if *update {
		if err := os.WriteFile("deps.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("deps.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the modules that the library links changed (-listed +linked); if it is meant, run `go test ./internal/house -update` and give the reason in the commit message:\n%s", diff)
	}
}

// The compiler's flags decide what Go's cache is asked for. Where they differ, Kubernetes is compiled once more.
func TestTheMakefileCompilesWithTheSameFlagsAsEverythingElse(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`-gcflags=(all=[^'"\n]*|std=)`).FindAllString(string(makefile), -1)
	if diff := cmp.Diff(gobuild.CompilerFlags(), got); diff != "" {
		t.Errorf("the Makefile compiles with other flags than gobuild.CompilerFlags (-those +the Makefile's):\n%s", diff)
	}
}
