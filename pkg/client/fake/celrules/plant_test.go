package celrules_test

import (
	_ "embed"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

var (
	//go:embed testdata/plants.yaml
	plantsYAML []byte

	plantKind = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Plant"}
)

// plantCRD defines a kind with rules of all sorts.
func plantCRD(t testing.TB) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(plantsYAML, crd); err != nil {
		t.Fatal(err)
	}
	return crd
}

// plant returns a plant that breaks no rule.
func plant(name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"min": int64(1), "max": int64(3), "soil": "clay"},
	}}
	u.SetGroupVersionKind(plantKind)
	u.SetNamespace("default")
	u.SetName(name)
	return u
}
