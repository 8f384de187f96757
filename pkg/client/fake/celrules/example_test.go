package celrules_test

import (
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/fake/celrules"
)

// Most tests read definitions from the files that controller-gen writes, with envtest.ReadCRDFiles.
const ponds = `
metadata:
  name: ponds.example.com
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Pond, plural: ponds}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              fish: {type: integer}
              water: {type: integer}
            x-kubernetes-validations:
            - rule: self.fish <= self.water
              message: too little water
`

func ExampleCompile() {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(ponds), crd); err != nil {
		panic(err)
	}
	c := fake.NewClientBuilder().WithCRDs(crd).WithCELRules(celrules.Compile).Build()
	pond := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1",
		"kind":       "Pond",
		"metadata":   map[string]any{"name": "small", "namespace": "default"},
		"spec":       map[string]any{"fish": int64(7), "water": int64(3)},
	}}
	fmt.Println(c.Create(context.Background(), pond))
	// Output: Pond.example.com "small" is invalid: spec: Invalid value: too little water
}
