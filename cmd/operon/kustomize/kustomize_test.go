package kustomize

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
