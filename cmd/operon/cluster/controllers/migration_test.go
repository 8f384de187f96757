package controllers_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
)

func TestAStorageVersionMigrationWritesObjectsAnewAndEndsTheOldVersion(t *testing.T) {
	config := start(t)
	client := kubernetes.NewForConfigOrDie(config)
	definitions := clientset.NewForConfigOrDie(config).ApiextensionsV1().CustomResourceDefinitions()
	plural := unique("movers")
	kind := strings.ToUpper(plural)
	version := func(name string, stored bool) apiextensionsv1.CustomResourceDefinitionVersion {
		return apiextensionsv1.CustomResourceDefinitionVersion{
			Name: name, Served: true, Storage: stored,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
		}
	}
	if _, err := definitions.Create(t.Context(), &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: plural + ".example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: plural, Singular: plural, Kind: kind, ListKind: kind + "List"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", true), version("v2", false)},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	crd := await(t, "an established definition", plural+".example.com", definitions.Watch, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		for _, c := range crd.Status.Conditions {
			if c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue {
				return true
			}
		}
		return false
	})
	movers := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: plural}).Namespace("default")
	mover, err := movers.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": kind, "metadata": map[string]any{"name": "it"},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{version("v1", false), version("v2", true)}
	if _, err := definitions.Update(t.Context(), crd, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "two stored versions", crd.Name, definitions.Watch, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return len(crd.Status.StoredVersions) == 2
	})

	migrations := client.StoragemigrationV1().StorageVersionMigrations()
	if _, err := migrations.Create(t.Context(), &storagemigrationv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{Name: plural},
		Spec:       storagemigrationv1.StorageVersionMigrationSpec{Resource: metav1.GroupResource{Group: "example.com", Resource: plural}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	await(t, "a migration that succeeded", plural, migrations.Watch, func(m *storagemigrationv1.StorageVersionMigration) bool {
		return meta.IsStatusConditionTrue(m.Status.Conditions, string(storagemigrationv1.MigrationSucceeded))
	})
	crd = await(t, "one stored version", crd.Name, definitions.Watch, func(crd *apiextensionsv1.CustomResourceDefinition) bool {
		return len(crd.Status.StoredVersions) == 1
	})
	if d := cmp.Diff([]string{"v2"}, crd.Status.StoredVersions); d != "" {
		t.Errorf("stored versions (-want +got):\n%s", d)
	}
	after, err := movers.Get(t.Context(), "it", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after.GetResourceVersion() == mover.GetResourceVersion() {
		t.Error("the object was not written anew")
	}
}
