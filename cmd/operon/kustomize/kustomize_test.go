package kustomize

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// capture returns what f prints to standard output: kustomize writes there and nowhere else.
func capture(t *testing.T, f func()) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	stdout := os.Stdout
	os.Stdout = out
	defer func() { os.Stdout = stdout }()
	f()
	data, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestBuildAndEditWorkAsUnderTheirOwnName(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"kustomization.yaml": "resources:\n- pod.yaml\n",
		"pod.yaml":           "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\nspec:\n  containers:\n  - name: c\n    image: controller:latest\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// What the field's Makefiles do before a deployment.
	if err := Run(t.Context(), []string{"edit", "set", "image", "controller=registry.example.com/op:v1"}); err != nil {
		t.Fatal(err)
	}
	var err error
	out := capture(t, func() { err = Run(t.Context(), []string{"build", "."}) })
	if err != nil || !strings.Contains(out, "image: registry.example.com/op:v1") {
		t.Errorf("built %q, %v", out, err)
	}
	if err := Run(t.Context(), []string{"build", "nowhere"}); err == nil {
		t.Error("a directory that is not there was built")
	}
}

func TestHelpNamesNoFlagsOfOtherPackages(t *testing.T) {
	if flag.Lookup("kubeconfig") == nil {
		flag.String("kubeconfig", "", "a flag of another package")
	}
	if pflag.Lookup("version") == nil {
		pflag.String("version", "", "another")
	}
	for _, args := range [][]string{{"--help"}, {"build", "--help"}} {
		var err error
		out := capture(t, func() { err = Run(t.Context(), args) })
		if err != nil || !strings.Contains(out, "--stack-trace") || strings.Contains(out, "--kubeconfig") || strings.Contains(out, "--version") {
			t.Errorf("%q: %v:\n%s", args, err, out)
		}
	}
}
