package envtest

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const twoCRDs = `# a comment first
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: frogs.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Frog, listKind: FrogList, plural: frogs, singular: frog}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: not-a-definition}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: toads.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {kind: Toad, listKind: ToadList, plural: toads, singular: toad}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

func write(t *testing.T, dir, name, content string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(crds []*apiextensionsv1.CustomResourceDefinition) []string {
	var names []string
	for _, crd := range crds {
		names = append(names, crd.Name)
	}
	return names
}

func TestReadCRDFilesFindsDefinitionsOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yaml", twoCRDs)
	write(t, dir, "b.json", `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"newts.example.com"},"spec":{"group":"example.com","names":{"kind":"Newt"}}}`)
	write(t, dir, "README.md", "not: [read")
	write(t, dir, "deeper/c.yaml", "not: [read")
	options := CRDInstallOptions{
		Paths: []string{dir, filepath.Join(dir, "a.yaml"), filepath.Join(dir, "absent")},
		CRDs:  []*apiextensionsv1.CustomResourceDefinition{{ObjectMeta: metav1.ObjectMeta{Name: "toads.example.com", Labels: map[string]string{"mine": "true"}}}},
	}
	if err := ReadCRDFiles(&options); err != nil {
		t.Fatal(err)
	}
	want := []string{"toads.example.com", "frogs.example.com", "newts.example.com"}
	if diff := cmp.Diff(want, names(options.CRDs)); diff != "" {
		t.Error(diff)
	}
	if options.CRDs[0].Labels["mine"] != "true" {
		t.Error("the given definition was replaced by one from a file")
	}
	if got := options.CRDs[1].Spec.Versions[0].Schema.OpenAPIV3Schema; got == nil || got.Type != "object" {
		t.Errorf("schema of frogs = %v", got)
	}
}

func TestDefinitionsOfNothingArePassedOver(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "_.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: {group: \"\", names: {kind: \"\", plural: \"\"}, scope: \"\", versions: null}\n")
	write(t, dir, "_frogs.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: frogs.}\nspec: {group: \"\", names: {kind: Frog, plural: frogs}}\n")
	write(t, dir, "a.yaml", twoCRDs)
	options := CRDInstallOptions{Paths: []string{dir}, ErrorIfPathMissing: true}
	if err := ReadCRDFiles(&options); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"frogs.example.com", "toads.example.com"}, names(options.CRDs)); diff != "" {
		t.Error(diff)
	}
}

func TestReadCRDFilesNamesTheBadFile(t *testing.T) {
	for _, tc := range []struct{ name, content, want string }{
		{"not yaml", "a: [", "document 1"},
		{"old version", "---\napiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\n", "v1beta1"},
		{"wrong type", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: 3\n", "document 1"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := write(t, t.TempDir(), "bad.yaml", tc.content)
			err := ReadCRDFiles(&CRDInstallOptions{Paths: []string{path}})
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error = %v, want it to name the file and %q", err, tc.want)
			}
		})
	}
}

func TestAMissingPathIsAnErrorOnlyWhenAskedFor(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent")
	if err := ReadCRDFiles(&CRDInstallOptions{Paths: []string{absent}}); err != nil {
		t.Error(err)
	}
	err := ReadCRDFiles(&CRDInstallOptions{Paths: []string{absent}, ErrorIfPathMissing: true})
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error = %v", err)
	}
}
