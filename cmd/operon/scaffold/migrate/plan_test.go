package migrate

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/operon-dev/operon/cmd/operon/scaffold/fileset"
	"github.com/operon-dev/operon/cmd/operon/scaffold/origin"
)

func newProject(t *testing.T, files map[string]string) (root string, opts Options) {
	t.Helper()
	root = t.TempDir()
	for path, content := range files {
		full := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	from, err := origin.Find()
	if err != nil {
		t.Fatal(err)
	}
	return root, Options{Force: true, From: from}
}

var small = map[string]string{
	"PROJECT": "layout:\n- go.kubebuilder.io/v4\nversion: \"3\"\n",
	"go.mod":  "module example.com/p\n\ngo 1.25.0\n\nrequire sigs.k8s.io/controller-runtime v0.25.2\n\nreplace sigs.k8s.io/controller-runtime => ../fork\n",
	"main.go": "package main\n\nimport _ \"sigs.k8s.io/controller-runtime/pkg/client\"\n\nfunc main() {}\n",
	// A person's, or another program's.
	"vendor/x/x.go":   "package x\n\nimport _ \"sigs.k8s.io/controller-runtime/pkg/client\"\n",
	"testdata/x/x.go": "package x\n\nimport _ \"sigs.k8s.io/controller-runtime/pkg/client\"\n",
}

func TestWithoutGoEverythingButGoModIsMovedIfThatIsAskedFor(t *testing.T) {
	root, opts := newProject(t, small)
	t.Setenv("PATH", t.TempDir())
	say := func(string) {}
	if _, err := New(t.Context(), root, opts, say); err == nil || !strings.Contains(err.Error(), "go is not installed") || !strings.Contains(err.Error(), "--no-build") {
		t.Fatalf("New: %v", err)
	}
	opts.NoBuild = true
	plan, err := New(t.Context(), root, opts, say)
	if err != nil {
		t.Fatal(err)
	}
	var changed []string
	for _, c := range plan.Set.Changes() {
		changed = append(changed, c.Path)
	}
	if diff := cmp.Diff([]string{"main.go", "go.mod", "go.sum"}, changed); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	mod, err := plan.Set.Read("go.mod")
	if err != nil || strings.Contains(mod, "controller-runtime") || !strings.Contains(mod, origin.Library) {
		t.Errorf("%v\n%s", err, mod)
	}
	notes := strings.Join(plan.Notes, "\n")
	for _, want := range []string{"go mod tidy is still to be run", "go.mod replaced sigs.k8s.io/controller-runtime by ../fork", "go mod vendor"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no note says %q:\n%s", want, notes)
		}
	}
	if err := plan.Set.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := New(t.Context(), root, opts, say); !errors.Is(err, ErrMigrated) {
		t.Errorf("a second time: %v", err)
	}
}

func TestReleasedVersionsAreRequiredWithoutAReplace(t *testing.T) {
	for _, tt := range []struct {
		compat bool
		want   []string
	}{
		{false, []string{origin.Library + " v1.2.3"}},
		{true, []string{
			origin.Library + " v1.2.3", "sigs.k8s.io/controller-runtime v0.25.2",
			"replace sigs.k8s.io/controller-runtime => github.com/operon-dev/operon/compat/controller-runtime v1.2.3",
		}},
	} {
		root, opts := newProject(t, small)
		opts.Compat, opts.From = tt.compat, origin.Origin{Version: "v1.2.3"}
		plan := &Plan{Set: fileset.New(root, true)}
		if err := plan.moveModule(small["go.mod"], opts); err != nil {
			t.Fatal(err)
		}
		mod, err := plan.Set.Read("go.mod")
		for _, want := range tt.want {
			if err != nil || !strings.Contains(mod, want+"\n") {
				t.Errorf("compat %t: %v, no %q:\n%s", tt.compat, err, want, mod)
			}
		}
		if strings.Contains(mod, "replace "+origin.Library) || strings.Contains(mod, "../fork") {
			t.Errorf("compat %t: %s", tt.compat, mod)
		}
	}
}
