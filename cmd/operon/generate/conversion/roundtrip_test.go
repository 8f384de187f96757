package conversion_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-dev/operon/cmd/operon/generate/conversion"
	"github.com/operon-dev/operon/cmd/operon/generate/deepcopy"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
)

// The generated code compiles, and random objects survive the trip to the other version and back.
func TestGeneratedConversionsLoseNothing(t *testing.T) {
	archive, err := txtar.ParseFile(filepath.Join("testdata", "roundtrip.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", "..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	const library = "github.com/operon-dev/operon"
	module := strings.Replace(read("go.mod"), "module "+library, "module example.com/shop", 1) +
		"\nrequire " + library + " v0.0.0\n\nreplace " + library + " => " + root + "\n"
	files := append(archive.Files, txtar.File{Name: "go.mod", Data: []byte(module)}, txtar.File{Name: "go.sum", Data: []byte(read("go.sum"))})
	for _, got := range [][]txtar.File{golden.Render(t, files, conversion.Generator{}), golden.Render(t, files, deepcopy.Generator{})} {
		for _, f := range got {
			if f.Name == "want/mistakes" {
				t.Fatalf("%s", f.Data)
			}
			files = append(files, txtar.File{Name: strings.TrimPrefix(f.Name, "want/"), Data: f.Data})
		}
	}
	dir := t.TempDir()
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go test: %v\n%s", err, out)
	}
}
