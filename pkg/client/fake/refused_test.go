package fake_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
)

// oddWrites are writes that a server refuses, or passes over, though their form is right.
var oddWrites = []struct {
	name  string
	write func(t *testing.T, c client.Client, obj client.Object) error
	// of what is written to ConfigMaps and to Gadgets: an error's reason, or nothing.
	configMap, gadget string
}{
	{"another namespace", patching(types.MergePatchType, `{"metadata":{"namespace":"elsewhere"}}`), "BadRequest", "BadRequest"},
	{"no namespace", patching(types.MergePatchType, `{"metadata":{"namespace":null}}`), "", ""},
	{"another uid", patching(types.MergePatchType, `{"metadata":{"uid":"another"}}`), "Invalid", "Invalid"},
	{"no uid", patching(types.MergePatchType, `{"metadata":{"uid":null}}`), "", ""},
	{"another kind", patching(types.MergePatchType, `{"kind":"Secret"}`), "Invalid", "Invalid"},
	{"no kind", patching(types.MergePatchType, `{"kind":null}`), "", "Invalid"},
	{"another version", patching(types.MergePatchType, `{"apiVersion":"v9"}`), "Invalid", "Invalid"},
	{"another kind by JSON patch", patching(types.JSONPatchType, `[{"op":"replace","path":"/kind","value":"Secret"}]`), "Invalid", "Invalid"},
	{"the same kind by JSON patch", patching(types.JSONPatchType, `[{"op":"test","path":"/apiVersion","value":"v1"}]`), "", "Invalid"},
	{"another kind by strategic merge", patching(types.StrategicMergePatchType, `{"kind":"Secret"}`), "", "UnsupportedMediaType"},
	{"no object", patching(types.MergePatchType, `[]`), "BadRequest", "BadRequest"},
	{"a link to itself", patching(types.MergePatchType, `{"metadata":{"selfLink":"/here"}}`), "", ""},
	{"a generation", patching(types.MergePatchType, `{"metadata":{"generation":77}}`), "", ""},
	{"version 0", func(t *testing.T, c client.Client, obj client.Object) error {
		obj.SetResourceVersion("0")
		return c.Update(t.Context(), obj)
	}, "", "Invalid"},
	{"an unknown dry run of an update", func(t *testing.T, c client.Client, obj client.Object) error {
		return c.Update(t.Context(), obj, &client.UpdateOptions{DryRun: []string{"Some"}})
	}, "Invalid", "Invalid"},
	{"an unknown dry run of a deletion", func(t *testing.T, c client.Client, obj client.Object) error {
		return c.Delete(t.Context(), obj, &client.DeleteOptions{DryRun: []string{"Some"}})
	}, "Invalid", "Invalid"},
	{"an unknown propagation", func(t *testing.T, c client.Client, obj client.Object) error {
		return c.Delete(t.Context(), obj, client.PropagationPolicy("Sideways"))
	}, "Invalid", "Invalid"},
}

func patching(patchType types.PatchType, document string) func(*testing.T, client.Client, client.Object) error {
	return func(t *testing.T, c client.Client, obj client.Object) error {
		return c.Patch(t.Context(), obj, client.RawPatch(patchType, []byte(document)))
	}
}

// outcome does one of them to a new object, which none of them changes.
func outcome(t *testing.T, c client.Client, obj client.Object, write func(*testing.T, client.Client, client.Object) error) string {
	t.Helper()
	must(t, c.Create(t.Context(), obj))
	before := fmt.Sprint(obj.GetResourceVersion(), obj.GetUID(), obj.GetGeneration(), obj.GetSelfLink())
	err := write(t, c, obj.DeepCopyObject().(client.Object))
	stored := get(t, c, obj)
	if after := fmt.Sprint(stored.GetResourceVersion(), stored.GetUID(), stored.GetGeneration(), stored.GetSelfLink()); after != before {
		t.Errorf("%s became %s", before, after)
	}
	must(t, c.Delete(t.Context(), obj))
	if err == nil {
		return ""
	}
	return string(apierrors.ReasonForError(err))
}

func TestOddWritesEndAsOnAServer(t *testing.T) {
	try := func(t *testing.T, c client.Client, namespace string) {
		for _, tc := range oddWrites {
			t.Run(tc.name, func(t *testing.T) {
				cm, gadget := configMapIn(namespace, "a"), unstructuredOf(gadgetKind, "a")
				gadget.SetNamespace(namespace)
				gadget.Object["spec"] = map[string]any{"color": "red"}
				if got := outcome(t, c, cm, tc.write); got != tc.configMap {
					t.Errorf("ConfigMap: %q, want %q", got, tc.configMap)
				}
				if got := outcome(t, c, gadget, tc.write); got != tc.gadget {
					t.Errorf("Gadget: %q, want %q", got, tc.gadget)
				}
			})
		}
	}
	t.Run("fake", func(t *testing.T) {
		try(t, fake.NewClientBuilder().WithCRDs(gadgetCRD()).Build(), "ns")
	})
	t.Run("server", func(t *testing.T) {
		c, err := client.New(realServer(t), client.Options{})
		must(t, err)
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "odd-"}}
		must(t, c.Create(t.Context(), ns))
		try(t, c, ns.Name)
	})
}
