package fake_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/interceptor"
)

func contextThatEnds(t *testing.T) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	return ctx, cancel
}

func TestFormsAreViewsOfOneObject(t *testing.T) {
	c := fake.NewClientBuilder().WithScheme(newScheme()).Build()
	u := unstructuredOf(widgetKind, "a")
	u.Object["spec"] = map[string]any{"size": 3} // an int, as callers write it
	must(t, c.Create(t.Context(), u))
	if got := get(t, c, widget("a")); got.Spec.Size != 3 || got.Kind != "" {
		t.Errorf("typed: %+v", got)
	}
	if got := get(t, c, unstructuredOf(widgetKind, "a")); got.Object["spec"].(map[string]any)["size"] != int64(3) {
		t.Errorf("unstructured: %v", got.Object)
	}
	m := get(t, c, metadataOf(widgetKind, "a"))
	if m.Kind != "Widget" || m.UID != u.GetUID() {
		t.Errorf("metadata: %+v", m)
	}
	must(t, c.Patch(t.Context(), m, merge(`{"metadata":{"labels":{"a":"b"}}}`)))
	if got := get(t, c, widget("a")); got.Labels["a"] != "b" || got.Spec.Size != 3 {
		t.Errorf("after a patch of metadata: %+v", got)
	}
	must(t, c.Delete(t.Context(), metadataOf(widgetKind, "a")))
	wantReason(t, c.Get(t.Context(), client.ObjectKeyFromObject(m), widget("a")), metav1.StatusReasonNotFound)
}

func TestListForms(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("b", nil), configMap("a", nil)).Build()
	listKind := corev1.SchemeGroupVersion.WithKind("ConfigMapList")
	u, m, typed := &unstructured.UnstructuredList{}, &metav1.PartialObjectMetadataList{}, &corev1.ConfigMapList{}
	u.SetGroupVersionKind(listKind)
	m.SetGroupVersionKind(listKind)
	for _, list := range []client.ObjectList{u, m, typed} {
		must(t, c.List(t.Context(), list))
		var names []string
		must(t, meta.EachListItem(list, func(obj runtime.Object) error {
			names = append(names, obj.(client.Object).GetName())
			return nil
		}))
		if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
			t.Errorf("%T (-want +got):\n%s", list, diff)
		}
		if version := list.GetResourceVersion(); version != "" {
			t.Errorf("%T has the resourceVersion %s though each object counts for itself", list, version)
		}
	}
	must(t, c.List(t.Context(), typed, client.InNamespace("empty")))
	if typed.Items == nil || len(typed.Items) != 0 {
		t.Errorf("an empty list is %#v, want an empty slice", typed.Items)
	}
}

func TestListSelects(t *testing.T) {
	red, blue := configMap("a", map[string]string{"color": "red"}), configMap("b", map[string]string{"color": "blue"})
	red.Data = map[string]string{"k": "v"}
	c := fake.NewClientBuilder().WithObjects(red, blue, configMap("c", nil)).
		WithIndex(&corev1.ConfigMap{}, "k", func(obj client.Object) []string { return []string{obj.(*corev1.ConfigMap).Data["k"]} }).
		Build()
	for _, test := range []struct {
		opts []client.ListOption
		want string
	}{
		{[]client.ListOption{client.MatchingLabels{"color": "red"}}, "[a]"},
		{[]client.ListOption{client.HasLabels{"color"}}, "[a b]"},
		{[]client.ListOption{client.MatchingFields{"k": "v"}}, "[a]"},
		{[]client.ListOption{client.MatchingFields{"metadata.name": "b"}}, "[b]"},
		{[]client.ListOption{client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("metadata.name", "b")}}, "[a c]"},
		{[]client.ListOption{client.MatchingFields{"k": "v", "metadata.name": "b"}}, "[]"},
		{[]client.ListOption{client.MatchingFieldsSelector{Selector: fields.Nothing()}}, "[]"},
		{[]client.ListOption{client.MatchingFieldsSelector{Selector: fields.Everything()}}, "[a b c]"},
	} {
		var list corev1.ConfigMapList
		must(t, c.List(t.Context(), &list, test.opts...))
		names := []string{}
		for _, cm := range list.Items {
			names = append(names, cm.Name)
		}
		if got := fmt.Sprint(names); got != test.want {
			t.Errorf("%v selected %s, want %s", test.opts, got, test.want)
		}
	}
	var list corev1.ConfigMapList
	wantError(t, c.List(t.Context(), &list, client.MatchingFields{"data.x": "y"}), "field data.x has no index in the fake")
	wantError(t, c.List(t.Context(), &list, client.MatchingFieldsSelector{Selector: fields.OneTermNotEqualSelector("k", "v")}), "key=value")
}

func TestListComesInPages(t *testing.T) {
	b := fake.NewClientBuilder()
	for i := range 7 {
		b.WithObjects(configMap(fmt.Sprint("c", i), nil))
	}
	c := b.Build()
	var names []string
	var rests []int64
	token := ""
	for {
		var list corev1.ConfigMapList
		must(t, c.List(t.Context(), &list, client.Limit(3), client.Continue(token)))
		for _, cm := range list.Items {
			names = append(names, cm.Name)
		}
		if list.RemainingItemCount != nil {
			rests = append(rests, *list.RemainingItemCount)
		}
		if token = list.Continue; token == "" {
			break
		}
	}
	if diff := cmp.Diff("[c0 c1 c2 c3 c4 c5 c6] [4 1]", fmt.Sprint(names, " ", rests)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	wantReason(t, c.List(t.Context(), &corev1.ConfigMapList{}, client.Continue("none of ours")), metav1.StatusReasonBadRequest)
}

func TestKindsThatTheSchemeDoesNotKnow(t *testing.T) {
	kind := schema.GroupVersionKind{Group: "other.io", Version: "v1", Kind: "Zed"}
	c := fake.NewClientBuilder().Build()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind("ZedList"))
	must(t, c.List(t.Context(), list))
	wantReason(t, c.Get(t.Context(), client.ObjectKey{Name: "z"}, unstructuredOf(kind, "")), metav1.StatusReasonNotFound)
	u := unstructuredOf(kind, "z")
	u.Object["anything"] = []any{"goes"}
	must(t, c.Create(t.Context(), u))
	must(t, c.List(t.Context(), list))
	if len(list.Items) != 1 || list.Items[0].Object["anything"] == nil {
		t.Errorf("listed %v", list.Items)
	}
	if err := c.Create(t.Context(), widget("w")); !runtime.IsNotRegisteredError(err) {
		t.Errorf("a Go type that the scheme does not know: %v", err)
	}
	if err := c.Create(t.Context(), &unstructured.Unstructured{}); !runtime.IsMissingKind(err) {
		t.Errorf("an object without a kind: %v", err)
	}
}

func TestClusterScopedKindsHaveNoNamespace(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(widgetKind, meta.RESTScopeRoot)
	c := fake.NewClientBuilder().WithScheme(newScheme()).WithRESTMapper(mapper).Build()
	w := widget("w")
	must(t, c.Create(t.Context(), w))
	if w.Namespace != "" {
		t.Errorf("created in namespace %s", w.Namespace)
	}
	must(t, c.Get(t.Context(), client.ObjectKey{Name: "w"}, w))
	namespaced, err := c.IsObjectNamespaced(w)
	if err != nil || namespaced {
		t.Errorf("IsObjectNamespaced: %v, %v", namespaced, err)
	}
	if _, err := fake.NewClientBuilder().Build().IsObjectNamespaced(&corev1.Node{}); !meta.IsNoMatchError(err) {
		t.Errorf("without a mapper: %v", err)
	}
}

func TestAddIndex(t *testing.T) {
	c := fake.NewClientBuilder().WithObjects(configMap("a", nil)).WithInterceptorFuncs(interceptor.Funcs{}).Build()
	byName := func(obj client.Object) []string { return []string{obj.GetName()} }
	must(t, fake.AddIndex(c, unstructuredOf(configMapKind, ""), "same", byName))
	wantError(t, fake.AddIndex(c, &corev1.ConfigMap{}, "same", byName), "field same of ConfigMap has an index already")
	var list corev1.ConfigMapList
	must(t, c.List(t.Context(), &list, client.MatchingFields{"same": "a"}))
	if len(list.Items) != 1 {
		t.Errorf("the index found %d objects", len(list.Items))
	}
	defer func() {
		if recover() == nil {
			t.Error("a client that is not a fake did not panic")
		}
	}()
	_ = fake.AddIndex(client.NewNamespacedClient(c, "ns"), &corev1.ConfigMap{}, "x", byName)
}
