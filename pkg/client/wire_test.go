package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	autoscalingv1ac "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/log"
)

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
	partial      = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	partialList  = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

	widgetJSON    = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","namespace":"n","uid":"u","resourceVersion":"7"},"spec":{"size":2}}`
	configMapJSON = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"w","namespace":"n","uid":"u","resourceVersion":"7"},"data":{"a":"1"}}`
)

func named() metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "n", Name: "w"} }

func widget() *Widget { return &Widget{ObjectMeta: named()} }

func configMap() *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: named()} }

func unstructuredObject(gvk schema.GroupVersionKind) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(gvk)
	u.SetNamespace("n")
	u.SetName("w")
	return u
}

func metadataObject(gvk schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{ObjectMeta: named()}
	m.SetGroupVersionKind(gvk)
	return m
}

func TestAPatchOfAScaleWithoutABodyLeavesTheObjectAsItIs(t *testing.T) {
	s := answering(t, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"w","namespace":"n","resourceVersion":"7"},"spec":{"replicas":2}}`)
	d := &appsv1.Deployment{ObjectMeta: named()}
	want := d.DeepCopy()
	must(t, "patch", s.client(t, client.Options{}).SubResource("scale").Patch(t.Context(), d, client.RawPatch(types.MergePatchType, []byte(`{}`))))
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
}

func TestAnUnstructuredBodyLearnsItsKindFromTheAnswer(t *testing.T) {
	s := answering(t, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"w","namespace":"n"},"spec":{"replicas":2}}`)
	c := s.client(t, client.Options{}).SubResource("scale")
	for of, obj := range map[string]client.Object{"typed": widget(), "unstructured": unstructuredObject(widgetKind)} {
		for verb, do := range map[string]func(body client.Object) error{
			"get":    func(body client.Object) error { return c.Get(t.Context(), obj, body) },
			"update": func(body client.Object) error { return c.Update(t.Context(), obj, client.WithSubResourceBody(body)) },
			"patch": func(body client.Object) error {
				return c.Patch(t.Context(), obj, client.RawPatch(types.MergePatchType, []byte(`{}`)), client.WithSubResourceBody(body))
			},
		} {
			body := &unstructured.Unstructured{}
			must(t, of+" "+verb, do(body))
			if got := body.GroupVersionKind(); got != scaleKind {
				t.Errorf("%s of %s: the body is a %s", verb, of, got)
			}
		}
	}
}

func TestAnAppliedScaleIsToldToItsBodyAndItsVersionToTheObject(t *testing.T) {
	s := answering(t, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"d","namespace":"n","resourceVersion":"7"},"spec":{"replicas":2}}`)
	c := s.client(t, client.Options{})
	object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "d", "namespace": "n"}}}
	object.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
	typed := appsv1ac.Deployment("d", "n")
	for form, of := range map[string]runtime.ApplyConfiguration{
		"typed": typed, "unstructured": client.ApplyConfigurationFromUnstructured(object),
	} {
		scale := autoscalingv1ac.Scale()
		must(t, form, c.SubResource("scale").Apply(t.Context(), of, &client.SubResourceApplyOptions{SubResourceBody: scale}, client.FieldOwner("me")))
		if scale.Spec == nil || *scale.Spec.Replicas != 2 || *scale.ResourceVersion != "7" {
			t.Errorf("%s: the body is %+v", form, scale)
		}
	}
	if *typed.Kind != "Deployment" || *typed.ResourceVersion != "7" || object.GetKind() != "Deployment" || object.GetResourceVersion() != "7" {
		t.Errorf("the objects are %+v and %v", typed, object.Object)
	}
}

func TestWhereAndHowRequestsAreSent(t *testing.T) {
	configMapKind := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	key := client.ObjectKey{Namespace: "n", Name: "w"}
	both := protobufType + "," + jsonType
	metadataOf := func(as string) string { return protobufType + as + "," + jsonType + as + "," + jsonType }
	merge := client.RawPatch(types.MergePatchType, []byte(`{}`))

	for _, test := range []struct {
		name string
		do   func(t *testing.T, c client.Client) error
		want request
	}{{
		"get, typed, with protobuf", func(t *testing.T, c client.Client) error { return c.Get(t.Context(), key, &corev1.ConfigMap{}) },
		request{Method: "GET", Path: "/api/v1/namespaces/n/configmaps/w", Accept: both},
	}, {
		"get, typed, custom", func(t *testing.T, c client.Client) error { return c.Get(t.Context(), key, &Widget{}) },
		request{Method: "GET", Path: "/apis/example.com/v1/namespaces/n/widgets/w", Accept: jsonType},
	}, {
		"get, unstructured", func(t *testing.T, c client.Client) error {
			return c.Get(t.Context(), key, unstructuredObject(configMapKind))
		},
		request{Method: "GET", Path: "/api/v1/namespaces/n/configmaps/w", Accept: jsonType},
	}, {
		"get, metadata", func(t *testing.T, c client.Client) error {
			return c.Get(t.Context(), key, metadataObject(configMapKind))
		},
		request{Method: "GET", Path: "/api/v1/namespaces/n/configmaps/w", Accept: metadataOf(partial)},
	}, {
		"get, cluster-scoped", func(t *testing.T, c client.Client) error { return c.Get(t.Context(), key, &corev1.Node{}) },
		request{Method: "GET", Path: "/api/v1/nodes/w", Accept: both},
	}, {
		"list", func(t *testing.T, c client.Client) error {
			return c.List(t.Context(), &WidgetList{}, client.InNamespace("n"), client.Limit(5), client.Continue("more"),
				client.MatchingLabels{"a": "b"}, client.HasLabels{"c"}, client.MatchingFields{"metadata.name": "w"})
		},
		request{Method: "GET", Path: "/apis/example.com/v1/namespaces/n/widgets", Accept: jsonType, Query: url.Values{
			"labelSelector": {"a=b,c"}, "fieldSelector": {"metadata.name=w"}, "limit": {"5"}, "continue": {"more"},
		}},
	}, {
		"list across namespaces, with what is raw", func(t *testing.T, c client.Client) error {
			return c.List(t.Context(), &WidgetList{}, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "5", Limit: 3, LabelSelector: "x"}})
		},
		request{Method: "GET", Path: "/apis/example.com/v1/widgets", Accept: jsonType, Query: url.Values{
			"resourceVersion": {"5"}, "labelSelector": {"x"},
		}},
	}, {
		"list, metadata", func(t *testing.T, c client.Client) error {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(widgetVersion.WithKind("WidgetList"))
			return c.List(t.Context(), list)
		},
		request{Method: "GET", Path: "/apis/example.com/v1/widgets", Accept: metadataOf(partialList)},
	}, {
		"list of nothing, by labels", func(t *testing.T, c client.Client) error {
			return c.List(t.Context(), &WidgetList{}, client.MatchingLabelsSelector{Selector: labels.Nothing()})
		},
		request{Method: "GET", Path: "/apis/example.com/v1/widgets", Accept: jsonType, Query: url.Values{"labelSelector": {"nothing,!nothing"}}},
	}, {
		"list of nothing, by an impossible label", func(t *testing.T, c client.Client) error {
			return c.List(t.Context(), &WidgetList{}, client.HasLabels{"not a label"})
		},
		request{Method: "GET", Path: "/apis/example.com/v1/widgets", Accept: jsonType, Query: url.Values{"labelSelector": {"nothing,!nothing"}}},
	}, {
		"list of nothing, by fields", func(t *testing.T, c client.Client) error {
			return c.List(t.Context(), &WidgetList{}, client.MatchingFieldsSelector{Selector: fields.Nothing()})
		},
		request{Method: "GET", Path: "/apis/example.com/v1/widgets", Accept: jsonType, Query: url.Values{"fieldSelector": {"metadata.name=nothing,metadata.name!=nothing"}}},
	}, {
		"create", func(t *testing.T, c client.Client) error {
			return c.Create(t.Context(), widget(), client.DryRunAll, client.FieldOwner("me"), client.FieldValidation("Strict"))
		},
		request{Method: "POST", Path: "/apis/example.com/v1/namespaces/n/widgets", Accept: jsonType, ContentType: jsonType, Query: url.Values{
			"dryRun": {"All"}, "fieldManager": {"me"}, "fieldValidation": {"Strict"},
		}},
	}, {
		"create, typed, with protobuf", func(t *testing.T, c client.Client) error { return c.Create(t.Context(), configMap()) },
		request{Method: "POST", Path: "/api/v1/namespaces/n/configmaps", Accept: both, ContentType: protobufType},
	}, {
		"create, unstructured", func(t *testing.T, c client.Client) error {
			return c.Create(t.Context(), unstructuredObject(configMapKind))
		},
		request{Method: "POST", Path: "/api/v1/namespaces/n/configmaps", Accept: jsonType, ContentType: jsonType},
	}, {
		"update", func(t *testing.T, c client.Client) error {
			return c.Update(t.Context(), widget(), &client.UpdateOptions{Raw: &metav1.UpdateOptions{FieldManager: "raw"}, FieldValidation: "Ignore"})
		},
		request{Method: "PUT", Path: "/apis/example.com/v1/namespaces/n/widgets/w", Accept: jsonType, ContentType: jsonType, Query: url.Values{
			"fieldManager": {"raw"}, "fieldValidation": {"Ignore"},
		}},
	}, {
		"merge patch", func(t *testing.T, c client.Client) error { return c.Patch(t.Context(), configMap(), merge) },
		request{Method: "PATCH", Path: "/api/v1/namespaces/n/configmaps/w", Accept: both, ContentType: "application/merge-patch+json"},
	}, {
		"metadata merge patch", func(t *testing.T, c client.Client) error {
			return c.Patch(t.Context(), metadataObject(configMapKind), merge)
		},
		request{Method: "PATCH", Path: "/api/v1/namespaces/n/configmaps/w", Accept: metadataOf(partial), ContentType: "application/merge-patch+json"},
	}, {
		"strategic merge patch", func(t *testing.T, c client.Client) error {
			return c.Patch(t.Context(), configMap(), client.StrategicMergeFrom(configMap()))
		},
		request{Method: "PATCH", Path: "/api/v1/namespaces/n/configmaps/w", Accept: both, ContentType: "application/strategic-merge-patch+json"},
	}, {
		"apply patch", func(t *testing.T, c client.Client) error {
			return c.Patch(t.Context(), widget(), client.RawPatch(types.ApplyPatchType, []byte(`{}`)), client.ForceOwnership, client.FieldOwner("me"))
		},
		request{Method: "PATCH", Path: "/apis/example.com/v1/namespaces/n/widgets/w", Accept: jsonType, ContentType: "application/apply-patch+yaml",
			Query: url.Values{"force": {"true"}, "fieldManager": {"me"}}},
	}, {
		"apply", func(t *testing.T, c client.Client) error {
			return c.Apply(t.Context(), corev1ac.ConfigMap("w", "n"), client.ForceOwnership, client.FieldOwner("me"))
		},
		request{Method: "PATCH", Path: "/api/v1/namespaces/n/configmaps/w", Accept: jsonType, ContentType: "application/apply-patch+yaml",
			Query: url.Values{"force": {"true"}, "fieldManager": {"me"}}},
	}, {
		"status update", func(t *testing.T, c client.Client) error { return c.Status().Update(t.Context(), widget()) },
		request{Method: "PUT", Path: "/apis/example.com/v1/namespaces/n/widgets/w/status", Accept: jsonType, ContentType: jsonType},
	}, {
		"status patch", func(t *testing.T, c client.Client) error { return c.Status().Patch(t.Context(), widget(), merge) },
		request{Method: "PATCH", Path: "/apis/example.com/v1/namespaces/n/widgets/w/status", Accept: jsonType, ContentType: "application/merge-patch+json"},
	}, {
		"status apply", func(t *testing.T, c client.Client) error {
			return c.Status().Apply(t.Context(), corev1ac.Pod("w", "n"), client.FieldOwner("me"))
		},
		request{Method: "PATCH", Path: "/api/v1/namespaces/n/pods/w/status", Accept: jsonType, ContentType: "application/apply-patch+yaml",
			Query: url.Values{"fieldManager": {"me"}}},
	}, {
		"scale of a built-in", func(t *testing.T, c client.Client) error {
			return c.SubResource("scale").Update(t.Context(), &appsv1.Deployment{ObjectMeta: named()}, client.WithSubResourceBody(&autoscalingv1.Scale{}))
		},
		request{Method: "PUT", Path: "/apis/apps/v1/namespaces/n/deployments/w/scale", Accept: both, ContentType: protobufType},
	}, {
		"scale of a custom resource", func(t *testing.T, c client.Client) error {
			return c.SubResource("scale").Update(t.Context(), widget(), client.WithSubResourceBody(&autoscalingv1.Scale{}))
		},
		request{Method: "PUT", Path: "/apis/example.com/v1/namespaces/n/widgets/w/scale", Accept: jsonType, ContentType: jsonType},
	}, {
		"eviction", func(t *testing.T, c client.Client) error {
			return c.SubResource("eviction").Create(t.Context(), &corev1.Pod{ObjectMeta: named()}, &policyv1.Eviction{}, client.DryRunAll)
		},
		request{Method: "POST", Path: "/api/v1/namespaces/n/pods/w/eviction", Accept: both, ContentType: protobufType, Query: url.Values{"dryRun": {"All"}}},
	}, {
		"subresource get", func(t *testing.T, c client.Client) error {
			return c.SubResource("status").Get(t.Context(), widget(), widget(), &client.SubResourceGetOptions{Raw: &metav1.GetOptions{ResourceVersion: "0"}})
		},
		request{Method: "GET", Path: "/apis/example.com/v1/namespaces/n/widgets/w/status", Accept: jsonType, Query: url.Values{"resourceVersion": {"0"}}},
	}, {
		"delete", func(t *testing.T, c client.Client) error {
			uid := types.UID("u")
			return c.Delete(t.Context(), widget(), client.GracePeriodSeconds(0), client.Preconditions{UID: &uid},
				client.PropagationPolicy(metav1.DeletePropagationForeground), client.DryRunAll)
		},
		request{Method: "DELETE", Path: "/apis/example.com/v1/namespaces/n/widgets/w", Accept: jsonType, ContentType: jsonType,
			Body: `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"preconditions":{"uid":"u"},"propagationPolicy":"Foreground","dryRun":["All"]}`},
	}, {
		"delete all of nothing", func(t *testing.T, c client.Client) error {
			return c.DeleteAllOf(t.Context(), &Widget{}, client.InNamespace("n"), client.MatchingLabelsSelector{})
		},
		request{Method: "DELETE", Path: "/apis/example.com/v1/namespaces/n/widgets", Accept: jsonType, ContentType: jsonType,
			Query: url.Values{"labelSelector": {"nothing,!nothing"}}, Body: `{"kind":"DeleteOptions","apiVersion":"v1"}`},
	}, {
		"delete all", func(t *testing.T, c client.Client) error {
			return c.DeleteAllOf(t.Context(), &Widget{}, client.InNamespace("n"), client.MatchingLabels{"a": "b"}, client.GracePeriodSeconds(3))
		},
		request{Method: "DELETE", Path: "/apis/example.com/v1/namespaces/n/widgets", Accept: jsonType, ContentType: jsonType,
			Query: url.Values{"labelSelector": {"a=b"}}, Body: `{"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":3}`},
	}} {
		t.Run(test.name, func(t *testing.T) {
			// An empty status is an answer that every request understands.
			s := answering(t, `{"apiVersion":"v1","kind":"Status","status":"Success"}`)
			if err := test.do(t, s.client(t, client.Options{})); err != nil {
				t.Fatal(err)
			}
			got := s.one(t)
			if test.want.Query == nil {
				test.want.Query = url.Values{}
			}
			if test.want.Body == "" {
				got.Body = ""
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestContentTypeOfTheConfigIsUsed(t *testing.T) {
	s := answering(t, configMapJSON)
	config := s.config()
	config.ContentType = jsonType
	c, err := client.New(config, client.Options{Scheme: newScheme(), Mapper: newMapper()})
	if err != nil {
		t.Fatal(err)
	}
	must(t, "create", c.Create(t.Context(), configMap()))
	if got := s.one(t); got.ContentType != jsonType || got.Accept != jsonType {
		t.Errorf("sent as %s, asked for %s", got.ContentType, got.Accept)
	}
	config.ContentType = protobufType
	if c, err = client.New(config, client.Options{Scheme: newScheme(), Mapper: newMapper()}); err != nil {
		t.Fatal(err)
	}
	s.answer = func(request) (int, string, string) { return http.StatusOK, jsonType, widgetJSON }
	must(t, "create", c.Create(t.Context(), widget()))
	if got := s.one(t); got.ContentType != jsonType {
		t.Errorf("a type without protobuf was sent as %s", got.ContentType)
	}
}

func TestTheAnswerReplacesTheObject(t *testing.T) {
	c := answering(t, widgetJSON).client(t, client.Options{})
	dirty := func() *Widget {
		w := widget()
		w.Labels = map[string]string{"stale": "yes"}
		w.Spec.Parts = map[string]string{"stale": "yes"}
		w.Status.Ready = 9
		return w
	}
	want := &Widget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "w", UID: "u", ResourceVersion: "7"},
		Spec:       WidgetSpec{Size: 2},
	}
	for name, do := range map[string]func(w *Widget) error{
		"get":           func(w *Widget) error { return c.Get(t.Context(), client.ObjectKeyFromObject(w), w) },
		"create":        func(w *Widget) error { return c.Create(t.Context(), w) },
		"update":        func(w *Widget) error { return c.Update(t.Context(), w) },
		"patch":         func(w *Widget) error { return c.Patch(t.Context(), w, client.MergeFrom(widget())) },
		"status update": func(w *Widget) error { return c.Status().Update(t.Context(), w) },
		"status patch":  func(w *Widget) error { return c.Status().Patch(t.Context(), w, client.Merge) },
	} {
		w := dirty()
		must(t, name, do(w))
		if diff := cmp.Diff(want, w); diff != "" {
			t.Errorf("after %s (-answer +object):\n%s", name, diff)
		}
	}
}

func TestTypedObjectsSayWhatTheyAreOnlyIfTheCallerDoes(t *testing.T) {
	c := answering(t, widgetJSON).client(t, client.Options{})
	said := metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}
	for name, test := range map[string]struct {
		do   func(w *Widget) error
		want metav1.TypeMeta
	}{
		"get":    {func(w *Widget) error { return c.Get(t.Context(), client.ObjectKeyFromObject(w), w) }, metav1.TypeMeta{}},
		"create": {func(w *Widget) error { return c.Create(t.Context(), w) }, metav1.TypeMeta{}},
		"update": {func(w *Widget) error { return c.Update(t.Context(), w) }, said},
		"patch":  {func(w *Widget) error { return c.Patch(t.Context(), w, client.Merge) }, said},
		"status": {func(w *Widget) error { return c.Status().Update(t.Context(), w) }, said},
	} {
		w := widget()
		w.TypeMeta = said
		must(t, name, test.do(w))
		if w.TypeMeta != test.want {
			t.Errorf("%s: %+v, want %+v", name, w.TypeMeta, test.want)
		}
	}
}

func TestAFailedCallLeavesTheObject(t *testing.T) {
	for name, answer := range map[string]func(request) (int, string, string){
		"refused": func(request) (int, string, string) {
			return 409, jsonType, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"Conflict","code":409}`
		},
		"cut short":       func(request) (int, string, string) { return 200, jsonType, widgetJSON[:100] },
		"of another kind": func(request) (int, string, string) { return 200, jsonType, configMapJSON },
	} {
		t.Run(name, func(t *testing.T) {
			c := newServer(t, answer).client(t, client.Options{})
			w := widget()
			w.Spec.Size = 4
			want := w.DeepCopyObject()
			if err := c.Update(t.Context(), w); err == nil {
				t.Error("no error")
			}
			if diff := cmp.Diff(want, w); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
		})
	}
}

func TestErrorsSayWhatIsWrong(t *testing.T) {
	s := answering(t, `{}`)
	c := s.client(t, client.Options{})
	type stranger struct{ corev1.ConfigMap }
	key := client.ObjectKey{Namespace: "n", Name: "w"}
	unmapped := unstructuredObject(schema.GroupVersionKind{Group: "nowhere.io", Version: "v1", Kind: "Ghost"})
	for name, test := range map[string]struct {
		err  error
		is   func(error) bool
		text string
	}{
		"a Go type that the scheme does not know": {c.Get(t.Context(), key, &stranger{}), runtime.IsNotRegisteredError, "stranger"},
		"unstructured without a kind":             {c.Get(t.Context(), key, &unstructured.Unstructured{}), runtime.IsMissingKind, ""},
		"an unstructured list without a kind":     {c.List(t.Context(), &unstructured.UnstructuredList{}), runtime.IsMissingKind, ""},
		"metadata without a kind":                 {c.Get(t.Context(), key, &metav1.PartialObjectMetadata{}), runtime.IsMissingKind, "metadata"},
		"a kind that the server does not have":    {c.Get(t.Context(), key, unmapped), meta.IsNoMatchError, "Ghost"},
		"a nil pointer":                           {c.Get(t.Context(), key, (*Widget)(nil)), nil, "is nil"},
		"no name":                                 {c.Get(t.Context(), client.ObjectKey{Namespace: "n"}, &Widget{}), nil, "name may not be empty"},
		"no namespace":                            {c.Get(t.Context(), client.ObjectKey{Name: "w"}, &Widget{}), nil, "Widget w: an empty namespace"},
		"create of metadata":                      {c.Create(t.Context(), metadataObject(widgetKind)), nil, "Widget n/w: "},
		"a lock without a version": {c.Patch(t.Context(), widget(),
			client.MergeFromWithOptions(widget(), client.MergeFromWithOptimisticLock{})), nil, "resourceVersion"},
		"an apply configuration without a kind": {c.Apply(t.Context(), &corev1ac.ConfigMapApplyConfiguration{}), runtime.IsMissingKind, ""},
		"no apply configuration":                {c.Apply(t.Context(), nil), nil, "nil"},
	} {
		if test.err == nil || test.is != nil && !test.is(test.err) || !strings.Contains(test.err.Error(), test.text) {
			t.Errorf("%s: %v", name, test.err)
		}
	}
	if sent := s.sent(); len(sent) != 0 {
		t.Errorf("the server was asked: %+v", sent)
	}
	if _, err := client.New(nil, client.Options{}); err == nil {
		t.Error("a client without a config")
	}
	_, err := client.New(s.config(), client.Options{Cache: &client.CacheOptions{Reader: &observer{}, DisableFor: []client.Object{&stranger{}}}})
	if !runtime.IsNotRegisteredError(err) {
		t.Errorf("DisableFor of an unknown type: %v", err)
	}
}

func TestStatusesAreUnderstoodWhateverTheScheme(t *testing.T) {
	s := newServer(t, func(request) (int, string, string) {
		return 404, jsonType, `{"apiVersion":"v1","kind":"Status","status":"Failure","reason":"NotFound","message":"no such widget here","code":404}`
	})
	bare := runtime.NewScheme()
	bare.AddKnownTypes(widgetVersion, &Widget{}, &WidgetList{})
	c := s.client(t, client.Options{Scheme: bare})
	for _, obj := range []client.Object{widget(), unstructuredObject(widgetKind), metadataObject(widgetKind)} {
		err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj)
		if !apierrors.IsNotFound(err) || err.Error() != "no such widget here" {
			t.Errorf("%T: %v", obj, err)
		}
	}
}

func TestReadsGoWhereTheCacheOptionsSay(t *testing.T) {
	key := client.ObjectKey{Namespace: "n", Name: "w"}
	unstructuredList := &unstructured.UnstructuredList{}
	unstructuredList.SetGroupVersionKind(widgetVersion.WithKind("WidgetList"))
	metadataList := &metav1.PartialObjectMetadataList{}
	metadataList.SetGroupVersionKind(widgetVersion.WithKind("WidgetList"))
	for name, test := range map[string]struct {
		options                       client.CacheOptions
		typed, unstructured, metadata bool // read from the cache
	}{
		"default":           {client.CacheOptions{}, true, false, true},
		"unstructured":      {client.CacheOptions{Unstructured: true}, true, true, true},
		"disabled":          {client.CacheOptions{Unstructured: true, DisableFor: []client.Object{widget()}}, false, false, false},
		"disabled by name":  {client.CacheOptions{Unstructured: true, DisableFor: []client.Object{metadataObject(widgetKind)}}, false, false, false},
		"disabled, another": {client.CacheOptions{DisableFor: []client.Object{configMap()}}, true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Reader = &observer{}
			s := newServer(t, func(r request) (int, string, string) {
				if strings.HasSuffix(r.Path, "/w") {
					return 200, jsonType, widgetJSON
				}
				return 200, jsonType, `{"apiVersion":"example.com/v1","kind":"WidgetList","items":[]}`
			})
			c := s.client(t, client.Options{Cache: &test.options})
			for _, read := range []struct {
				what   string
				err    error
				cached bool
			}{
				{"get typed", c.Get(t.Context(), key, widget()), test.typed},
				{"list typed", c.List(t.Context(), &WidgetList{}), test.typed},
				{"get unstructured", c.Get(t.Context(), key, unstructuredObject(widgetKind)), test.unstructured},
				{"list unstructured", c.List(t.Context(), unstructuredList), test.unstructured},
				{"get metadata", c.Get(t.Context(), key, metadataObject(widgetKind)), test.metadata},
				{"list metadata", c.List(t.Context(), metadataList), test.metadata},
			} {
				if want := map[bool]error{true: errReadOfCache}[read.cached]; read.err != want {
					t.Errorf("%s: %v, want %v", read.what, read.err, want)
				}
			}
		})
	}
}

func TestWarningsAreLogged(t *testing.T) {
	s := newServer(t, nil)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("Warning", `299 - "widgets are deprecated"`)
		w.Header().Set("Content-Type", jsonType)
		fmt.Fprint(w, widgetJSON)
	})
	var logged []string
	logger := funcr.New(func(_, args string) { logged = append(logged, args) }, funcr.Options{})
	for name, tc := range map[string]struct {
		ctx     context.Context
		options client.Options
		want    int
	}{
		"once, by the client's logger":           {t.Context(), client.Options{Log: logger}, 1},
		"each, by the logger that is in context": {log.IntoContext(t.Context(), logger), client.Options{}, 3},
	} {
		logged = nil
		c := s.client(t, tc.options)
		for range 3 {
			must(t, "get", c.Get(tc.ctx, client.ObjectKeyFromObject(widget()), widget()))
		}
		if len(logged) != tc.want || !strings.Contains(logged[0], "widgets are deprecated") {
			t.Errorf("%s: logged %q", name, logged)
		}
	}
}

func TestAClientServesManyGoroutines(t *testing.T) {
	c := answering(t, widgetJSON).client(t, client.Options{Cache: &client.CacheOptions{Reader: &observer{}}})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				obj := []client.Object{widget(), unstructuredObject(widgetKind)}[i%2]
				if err := c.Update(t.Context(), obj); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
