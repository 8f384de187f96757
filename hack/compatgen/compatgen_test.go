package main

import (
	"go/constant"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const root = "../.."

func TestCommittedFilesAreWhatTheLibraryExports(t *testing.T) {
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	have, err := committed(target(root))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := want["pkg/client/"+generated]; !ok {
		t.Errorf("nothing was generated for pkg/client, only %v", slices.Sorted(maps.Keys(want)))
	}
	stale := false
	names := maps.Clone(want)
	maps.Copy(names, have)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if diff := cmp.Diff(string(have[name]), string(want[name])); diff != "" {
			stale = true
			t.Errorf("compat/controller-runtime/%s (-committed +generated):\n%s", name, diff)
		}
	}
	if stale {
		t.Error("after a change to what the library exports, run `go run ./hack/compatgen` at the repository's root")
	}
}

func TestModuleStaysOutOfTheWorkspace(t *testing.T) {
	work, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(work), "compat/") {
		t.Errorf("go.work has the module in it: there it would stand in for %s wherever Operon is compared with it", module)
	}
}

func TestModuleBuildsForItself(t *testing.T) {
	build(t, target(root), "GOWORK=off", "GOFLAGS=-mod=readonly")
}

// The operator and the library it imports require controller-runtime v0.25.2, and the operator's go.mod has one more
// line. The workspace around it stands for a module proxy: it says where the library and Operon itself are.
func TestOperatorAndItsLibraryBuildWithOneReplaceLine(t *testing.T) {
	dir := t.TempDir()
	for _, member := range []string{"operator", "library"} {
		if err := os.CopyFS(filepath.Join(dir, member), os.DirFS(filepath.Join("testdata", member))); err != nil {
			t.Fatal(err)
		}
	}
	repository, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	operator := filepath.Join(dir, "operator")
	appendTo(t, filepath.Join(operator, "go.mod"), "\nreplace "+module+" => "+target(repository)+"\n")
	sums, err := os.ReadFile(filepath.Join(target(root), "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	appendTo(t, filepath.Join(operator, "go.sum"), string(sums))
	appendTo(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse ./operator\n\nreplace example.com/library v0.0.0 => ./library\n\nreplace "+library+" v0.0.0 => "+repository+"\n")
	build(t, operator, "GOWORK=", "GOFLAGS=-mod=readonly")

	deps := strings.Fields(runGo(t, operator, []string{"GOWORK=", "GOFLAGS=-mod=readonly"}, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "."))
	if !slices.Contains(deps, library) {
		t.Errorf("the operator was built without %s", library)
	}
}

func TestGeneratedFilesSay(t *testing.T) {
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ what, file, text string }{
		{"the name that importers of the root know", "", "package controllerruntime\n"},
		{"a type as an alias", "pkg/client/", "\ntype Object = operon.Object\n"},
		{"a generic type as a generic alias", "pkg/handler/", "\ntype TypedFuncs[object any, request comparable] = operon.TypedFuncs[object, request]\n"},
		{"an instance as an alias without parameters", "pkg/handler/", "\ntype Funcs = operon.Funcs\n"},
		{"a constant", "pkg/handler/", "\nconst LowPriority = operon.LowPriority\n"},
		{"a variable", "pkg/metrics/", "\nvar Registry = operon.Registry\n"},
		{"a function", "pkg/client/", "\nfunc IgnoreNotFound(err error) error {\n\treturn operon.IgnoreNotFound(err)\n}\n"},
		{"a generic function with variadic arguments", "pkg/predicate/", "\treturn operon.And[object](predicates...)\n"},
		{"what is deprecated", "", "\n// Deprecated: "},
	} {
		if !strings.Contains(string(files[tt.file+generated]), tt.text) {
			t.Errorf("%s: %s%s has no %q", tt.what, tt.file, generated, tt.text)
		}
	}
}

// The compiler's own view of the built module, name by name: this is what makes a value that one side made usable on the
// other.
func TestEveryNameIsTheSameOnBothSides(t *testing.T) {
	pkgs, imp, err := list(target(root), "./...")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range pkgs {
		alias, err := imp.Import(p.ImportPath)
		if err != nil {
			t.Fatal(err)
		}
		original, err := imp.Import(library + strings.TrimPrefix(p.ImportPath, module))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range original.Scope().Names() {
			want := original.Scope().Lookup(name)
			if !want.Exported() {
				continue
			}
			n++
			if got := alias.Scope().Lookup(name); got == nil {
				t.Errorf("%s has no %s", p.ImportPath, name)
			} else if !same(want, got) {
				t.Errorf("%s.%s is %s; want it to be %s", p.ImportPath, name, got, want)
			}
		}
	}
	if n < 200 {
		t.Errorf("compared %d names: not the library", n)
	}
}

func same(want, got types.Object) bool {
	switch want := want.(type) {
	case *types.Const:
		got, ok := got.(*types.Const)
		return ok && types.Identical(want.Type(), got.Type()) && constant.Compare(want.Val(), token.EQL, got.Val())
	case *types.TypeName:
		got, ok := got.(*types.TypeName)
		return ok && got.IsAlias() && origin(want.Type()) == origin(got.Type()) && typeParams(want).Len() == typeParams(got).Len() &&
			(typeParams(want).Len() > 0 || types.Identical(want.Type(), got.Type()))
	default:
		return types.Identical(want.Type(), got.Type())
	}
}

// origin returns the declaration behind any number of aliases, or nil if there is none.
func origin(t types.Type) *types.TypeName {
	for {
		switch u := t.(type) {
		case *types.Alias:
			t = u.Origin().Rhs()
		case *types.Named:
			return u.Origin().Obj()
		default:
			return nil
		}
	}
}

func build(t *testing.T, dir string, env ...string) {
	t.Helper()
	runGo(t, dir, env, "build", "./...")
}

func runGo(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s in %s: %v\n%s", strings.Join(args, " "), dir, err, stderr.String())
	}
	return string(out)
}

func appendTo(t *testing.T, file, text string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
