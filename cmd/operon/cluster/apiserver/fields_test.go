package apiserver_test

import (
	"context"
	"os"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-dev/operon/pkg/envtest"
)

func TestWhatTheServerWritesItselfIsManagedByKubeAPIServer(t *testing.T) {
	if os.Getenv("OPERON") == "" {
		t.Skip("needs an API server: OPERON does not name the operon command")
	}
	env := envtest.Environment{}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	definitions := clientset.NewForConfigOrDie(config).ApiextensionsV1().CustomResourceDefinitions()
	names := apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"}
	crd, err := definitions.Create(t.Context(), &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Names: names,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	w, err := definitions.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + crd.Name, ResourceVersion: crd.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	for e := range w.ResultChan() {
		crd, ok := e.Object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			t.Fatalf("watch: %v", e.Object)
		}
		for _, entry := range crd.ManagedFields {
			if entry.Subresource != "status" {
				continue
			}
			if entry.Manager != "kube-apiserver" {
				t.Errorf("the status is managed by %q", entry.Manager)
			}
			return
		}
	}
	t.Fatal("the status was not written")
}
