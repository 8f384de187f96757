package schemapatch_test

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/operon-dev/operon/cmd/operon/generate"
	"github.com/operon-dev/operon/cmd/operon/generate/admit"
	"github.com/operon-dev/operon/cmd/operon/generate/golden"
	"github.com/operon-dev/operon/cmd/operon/generate/schemapatch"
)

var _ generate.Generator = schemapatch.Generator{}

const source = `// +groupName=x.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Foo is a foo.
type Foo struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	// A has a default.
	// +kubebuilder:default={1,2}
	A []int ` + "`json:\"a\"`" + `
}
`

// meta stands in for the API machinery.
const meta = `package v1

type TypeMeta struct {
	Kind string ` + "`json:\"kind,omitempty\"`" + `
}

type ObjectMeta struct{}
`

const manifest = `# why it is written by hand
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: x.example.com
  names: {kind: Foo}
  versions:
  - name: v1 # the one
    schema:
      openAPIV3Schema: {type: string}
  - name: v0
    schema:
      openAPIV3Schema: {type: string}
`

const patched = `# why it is written by hand
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
spec:
  group: x.example.com
  names: {kind: Foo}
  versions:
    - name: v1 # the one
      schema:
        openAPIV3Schema:
          description: Foo is a foo.
          type: object
          required:
            - a
            - metadata
          properties:
            a:
              description: A has a default.
              type: array
              default:
                - 1
                - 2
              items:
                type: integer
            kind:
              type: string
            metadata:
              type: object
    - name: v0
`

func TestOnlyTheSchemasOfAManifestChange(t *testing.T) {
	manifests := t.TempDir()
	for name, data := range map[string]string{"foo.yaml": manifest, "notes.md": "kind: CustomResourceDefinition", "map.yaml": "kind: ConfigMap\n"} {
		if err := os.WriteFile(filepath.Join(manifests, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := golden.Render(t, []txtar.File{
		{Name: "go.mod", Data: []byte("module example.com/m\n\ngo 1.26\n\nrequire k8s.io/apimachinery v0.0.0\n\nreplace k8s.io/apimachinery => ./machinery\n")},
		{Name: "machinery/go.mod", Data: []byte("module k8s.io/apimachinery\n")},
		{Name: "machinery/pkg/apis/meta/v1/types.go", Data: []byte(meta)},
		{Name: "v1/types.go", Data: []byte(source)},
	}, schemapatch.Generator{Manifests: manifests})
	if len(got) != 1 || got[0].Name != "want/foo.yaml" || string(got[0].Data) != patched {
		t.Errorf("got %s, want want/foo.yaml with:\n%s", txtar.Format(&txtar.Archive{Files: got}), patched)
	}
}

func TestTheAPIServerJudgesWhatIsWritten(t *testing.T) {
	for _, name := range []string{"right", "wrong", "doubtful"} {
		dir := filepath.Join("testdata", name)
		golden.TestJudged(t, filepath.Join(dir, "*.txtar"), schemapatch.Generator{Manifests: dir}, admit.Judge)
	}
}

func TestAMissingDirectoryIsAnError(t *testing.T) {
	if _, err := (schemapatch.Generator{Manifests: filepath.Join(t.TempDir(), "none")}).Generate(t.Context(), &generate.Input{}); err == nil {
		t.Error("no error")
	}
}
