package client_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/envtest"
)

func must(t *testing.T, step string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", step, err)
	}
}

// current calls write, which writes obj, and reads obj again first whenever somebody else has been faster.
func current(t *testing.T, c client.Client, step string, obj client.Object, write func() error) {
	t.Helper()
	err := write()
	for range 50 {
		if !apierrors.IsConflict(err) {
			break
		}
		must(t, "get", c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj))
		err = write()
	}
	must(t, step, err)
}

// again returns a copy of obj that can be created.
func again(obj client.Object) client.Object {
	out := obj.DeepCopyObject().(client.Object)
	out.SetResourceVersion("")
	out.SetUID("")
	return out
}

func formIsTyped(obj runtime.Object) bool {
	_, ok := obj.(runtime.Unstructured)
	return !ok
}

func selectorAC() *metav1ac.LabelSelectorApplyConfiguration {
	return metav1ac.LabelSelector().WithMatchLabels(map[string]string{"a": "b"})
}

func installCRD(t *testing.T, config *rest.Config, crd *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	if _, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{crd}}); err != nil {
		t.Fatal(err)
	}
}
