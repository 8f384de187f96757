package fake_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/operon-dev/operon/pkg/client"
)

// Widget is a custom resource with a Go type.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec,omitempty"`
	Status            WidgetStatus `json:"status,omitempty"`
}

type WidgetSpec struct {
	Size int32 `json:"size,omitempty"`
}

type WidgetStatus struct {
	Ready int32 `json:"ready,omitempty"`
}

type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

func (l *WidgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Widget))
	}
	return &out
}

var widgetKind = exampleVersion.WithKind("Widget")

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(s); err != nil {
		panic(err)
	}
	s.AddKnownTypes(exampleVersion, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(s, exampleVersion)
	return s
}

func widget(name string) *Widget {
	return &Widget{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

// Pointed is an object whose metadata is a pointer.
type Pointed struct {
	metav1.TypeMeta
	*metav1.ObjectMeta `json:"metadata,omitempty"`
}

func (p *Pointed) DeepCopyObject() runtime.Object {
	return &Pointed{TypeMeta: p.TypeMeta, ObjectMeta: p.ObjectMeta.DeepCopy()}
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels}}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
}

func unstructuredOf(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace("ns")
	u.SetName(name)
	return u
}

func metadataOf(kind schema.GroupVersionKind, name string) *metav1.PartialObjectMetadata {
	m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	m.SetGroupVersionKind(kind)
	return m
}

// get reads obj by its own name.
func get[T client.Object](t *testing.T, c client.Reader, obj T) T {
	t.Helper()
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantReason fails the test unless err is of that kind.
func wantReason(t *testing.T, err error, want metav1.StatusReason) {
	t.Helper()
	if got := apierrors.ReasonForError(err); err == nil || got != want {
		t.Fatalf("got the error %v (%s), want one of kind %s", err, got, want)
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Fatalf("got the error %v, want one that says %q", err, part)
	}
}

func merge(doc string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(doc)) }
