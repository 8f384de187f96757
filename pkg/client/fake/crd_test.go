package fake_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
)

func gadget(name string, spec map[string]any) *unstructured.Unstructured {
	u := unstructuredOf(gadgetKind, name)
	u.Object["spec"] = spec
	return u
}

func TestDefinitionsDefaultAndPrune(t *testing.T) {
	c := fake.NewClientBuilder().WithCRDs(gadgetCRD()).Build()
	g := gadget("g", map[string]any{
		"color": "red", "unknown": "x", "size": nil, "note": nil,
		"extra": map[string]any{"kept": "y"}, "parts": []any{map[string]any{"name": "p", "unknown": "z"}},
	})
	must(t, c.Create(t.Context(), g))
	want := map[string]any{
		"color": "red", "size": int64(1), "note": nil,
		"extra": map[string]any{"kept": "y"}, "parts": []any{map[string]any{"name": "p", "count": int64(1)}},
	}
	if diff := cmp.Diff(any(want), g.Object["spec"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestDefinitionsValidate(t *testing.T) {
	c := fake.NewClientBuilder().WithCRDs(gadgetCRD()).Build()
	must(t, c.Create(t.Context(), gadget("g", map[string]any{"color": "red"})))
	for patch, want := range map[string]string{
		`{"spec":{"color":"green"}}`:                        "spec.color: Unsupported value",
		`{"spec":{"color":null}}`:                           "spec.color: Required value",
		`{"spec":{"size":11}}`:                              "spec.size: Invalid value",
		`{"spec":{"size":"big"}}`:                           "must be of type integer",
		`{"spec":{"tags":["a","a"]}}`:                       "spec.tags[1]: Duplicate value",
		`{"spec":{"parts":[{"count":1}]}}`:                  "spec.parts[0].name: Required value",
		`{"metadata":{"labels":{"a":"not a label value"}}}`: "metadata.labels: Invalid value",
	} {
		t.Run(patch, func(t *testing.T) {
			err := c.Patch(t.Context(), gadget("g", nil), merge(patch))
			wantReason(t, err, metav1.StatusReasonInvalid)
			wantError(t, err, want)
		})
	}
	wantReason(t, c.Status().Patch(t.Context(), gadget("g", nil), merge(`{"status":{"ready":"x"}}`)), metav1.StatusReasonInvalid)
	wantReason(t, c.Create(t.Context(), gadget("Not A Name", map[string]any{"color": "red"})), metav1.StatusReasonInvalid)
	wantReason(t, c.Patch(t.Context(), gadget("g", nil), client.RawPatch(types.StrategicMergePatchType, []byte(`{}`))), metav1.StatusReasonUnsupportedMediaType)
}

func TestDefinitionsLetThroughWhatWasWrongBefore(t *testing.T) {
	c := fake.NewClientBuilder().WithCRDs(gadgetCRD()).WithObjects(gadget("g", map[string]any{"color": "green"})).Build()
	must(t, c.Patch(t.Context(), gadget("g", nil), merge(`{"spec":{"size":2}}`)))
	wantReason(t, c.Patch(t.Context(), gadget("g", nil), merge(`{"spec":{"color":"yellow"}}`)), metav1.StatusReasonInvalid)
}

func TestDefinitionsTellSubresourcesAndFields(t *testing.T) {
	c := fake.NewClientBuilder().WithCRDs(gadgetCRD(), gizmoCRD()).Build()
	red := gadget("red", map[string]any{"color": "red"})
	red.Object["status"] = map[string]any{"ready": int64(1)}
	must(t, c.Create(t.Context(), red))
	if status, kept := red.Object["status"]; kept {
		t.Errorf("a new object has the status %v", status)
	}
	must(t, c.Create(t.Context(), gadget("blue", map[string]any{"color": "blue"})))
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gadgetKind)
	must(t, c.List(t.Context(), list, client.MatchingFields{"spec.color": "blue"}))
	if len(list.Items) != 1 || list.Items[0].GetName() != "blue" {
		t.Errorf("selected %v", list.Items)
	}
	gizmo := unstructuredOf(gizmoKind, "g")
	gizmo.Object["status"] = map[string]any{"ready": int64(1)}
	must(t, c.Create(t.Context(), gizmo))
	if gizmo.Object["status"] == nil {
		t.Error("a status without a subresource was dropped")
	}
	wantReason(t, c.Status().Update(t.Context(), gizmo), metav1.StatusReasonNotFound)
	if namespaced, err := c.IsObjectNamespaced(gizmo); err != nil || !namespaced {
		t.Errorf("IsObjectNamespaced: %v, %v", namespaced, err)
	}
	mapping, err := c.RESTMapper().RESTMapping(gadgetKind.GroupKind(), "v1")
	if err != nil || mapping.Resource.Resource != "gadgets" {
		t.Errorf("mapping: %v, %v", mapping, err)
	}
}

func TestDefinedKindsWithAGoType(t *testing.T) {
	crd := gizmoCRD()
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget", ListKind: "WidgetList", Singular: "widget", Plural: "widgets"}
	second := crd.Spec.Versions[0]
	second.Name, second.Storage = "v2", false
	crd.Spec.Versions = append(crd.Spec.Versions, second)
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithCRDs(crd).Build()
	w := widget("w")
	w.Spec.Size = 3
	must(t, c.Create(t.Context(), w))
	must(t, c.Patch(t.Context(), w, merge(`{"spec":{"color":"red"}}`)))
	if got := get(t, c, widget("w")); got.Spec.Size != 3 || got.Generation != 2 {
		t.Errorf("typed: %+v", got)
	}
	v2 := widgetKind
	v2.Version = "v2"
	u := get(t, c, unstructuredOf(v2, "w"))
	if u.GetAPIVersion() != "example.com/v2" || u.Object["spec"].(map[string]any)["color"] != "red" {
		t.Errorf("a field that the Go type does not have, in another version: %v", u.Object)
	}
	must(t, c.Patch(t.Context(), u, merge(`{"apiVersion":"example.com/v2","spec":{"color":"blue"}}`)))
	if u.GetAPIVersion() != "example.com/v2" {
		t.Errorf("patched in another version: %v", u.Object)
	}
	must(t, c.List(t.Context(), &WidgetList{}))
}

func TestBrokenDefinitionIsNamed(t *testing.T) {
	crd := gadgetCRD()
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Type = ""
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, "CustomResourceDefinition gadgets.example.com, version v1") {
			t.Errorf("panic %s", got)
		}
	}()
	fake.NewClientBuilder().WithCRDs(crd).Build()
}
