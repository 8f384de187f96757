package apiutil_test

import (
	"crypto/rand"
	"errors"
	"net/http"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/client/apiutil"
)

func TestTheKindOfAnObject(t *testing.T) {
	pod := corev1.SchemeGroupVersion.WithKind("Pod")
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "g", Version: "v", Kind: "K"})
	m := &metav1.PartialObjectMetadata{}
	m.SetGroupVersionKind(pod)
	noVersion := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{Kind: "Pod"}}
	for name, test := range map[string]struct {
		obj  runtime.Object
		want schema.GroupVersionKind
		bad  func(error) bool
	}{
		"typed":                       {&corev1.Pod{}, pod, nil},
		"typed that says otherwise":   {&corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "X", APIVersion: "x"}}, pod, nil},
		"unstructured":                {u, u.GroupVersionKind(), nil},
		"metadata":                    {m, pod, nil},
		"metadata without a version":  {noVersion, schema.GroupVersionKind{}, runtime.IsMissingVersion},
		"metadata without a kind":     {&metav1.PartialObjectMetadata{}, schema.GroupVersionKind{}, runtime.IsMissingKind},
		"metadata list without":       {&metav1.PartialObjectMetadataList{}, schema.GroupVersionKind{}, runtime.IsMissingKind},
		"unstructured without a kind": {&unstructured.Unstructured{}, schema.GroupVersionKind{}, runtime.IsMissingKind},
		"several kinds":               {&metav1.ListOptions{}, schema.GroupVersionKind{}, func(err error) bool { return err != nil }},
		"one of several kinds":        {createOptions("apps/v1", "CreateOptions"), appsv1.SchemeGroupVersion.WithKind("CreateOptions"), nil},
		"none of its several kinds":   {createOptions("apps/v7", "CreateOptions"), schema.GroupVersionKind{}, func(err error) bool { return err != nil }},
		"of all versions":             {&metav1.Status{}, schema.GroupVersionKind{}, func(err error) bool { return err != nil }},
		"nil":                         {nil, schema.GroupVersionKind{}, func(err error) bool { return err != nil }},
	} {
		got, err := apiutil.GVKForObject(test.obj, clientgoscheme.Scheme)
		if test.bad == nil && err != nil || test.bad != nil && !test.bad(err) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	if _, err := apiutil.GVKForObject(&corev1.Pod{}, runtime.NewScheme()); !runtime.IsNotRegisteredError(err) {
		t.Errorf("unknown type: %v", err)
	}
}

func createOptions(apiVersion, kind string) runtime.Object {
	return &metav1.CreateOptions{TypeMeta: metav1.TypeMeta{APIVersion: apiVersion, Kind: kind}}
}

func TestWhetherAKindIsNamespaced(t *testing.T) {
	m := meta.NewDefaultRESTMapper(nil)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Node"), meta.RESTScopeRoot)
	for obj, want := range map[runtime.Object]bool{&corev1.Pod{}: true, &corev1.Node{}: false} {
		if got, err := apiutil.IsObjectNamespaced(obj, clientgoscheme.Scheme, m); err != nil || got != want {
			t.Errorf("%T: %v, %v", obj, got, err)
		}
	}
	if _, err := apiutil.IsObjectNamespaced(&corev1.Secret{}, clientgoscheme.Scheme, m); !meta.IsNoMatchError(err) {
		t.Errorf("unknown kind: %v", err)
	}
}

func TestRESTClientsTalkToTheirGroupVersion(t *testing.T) {
	codecs := serializer.NewCodecFactory(clientgoscheme.Scheme)
	for gvk, want := range map[schema.GroupVersionKind]string{
		corev1.SchemeGroupVersion.WithKind("Pod"):               "/api/v1/things",
		appsv1.SchemeGroupVersion.WithKind("Deployment"):        "/apis/apps/v1/things",
		{Group: "example.com", Version: "v1beta1", Kind: "Cog"}: "/apis/example.com/v1beta1/things",
	} {
		c, err := apiutil.RESTClientForGVK(gvk, false, false, &rest.Config{Host: "https://example.com"}, codecs, http.DefaultClient)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Get().Resource("things").URL().Path; got != want {
			t.Errorf("%s: %s, want %s", gvk, got, want)
		}
	}
}

// message is a custom resource with a protobuf form, as generators make it.
type message struct {
	metav1.TypeMeta
	plain
}

type plain struct{ metav1.ObjectMeta }

func (*message) DeepCopyObject() runtime.Object { return &message{} }
func (*message) Reset()                         {}

func TestProtobufIsForKindsThatHaveIt(t *testing.T) {
	// What is added stays added, so every run has a group of its own.
	gv := schema.GroupVersion{Group: rand.Text() + ".example.com", Version: "v1"}
	kind := gv.WithKind("message")
	if apiutil.HasProtobuf(kind) || !apiutil.HasProtobuf(corev1.SchemeGroupVersion.WithKind("Pod")) {
		t.Error("client-go's kinds have a protobuf form, others do not")
	}
	err := apiutil.AddToProtobufScheme(func(s *runtime.Scheme) error {
		s.AddKnownTypes(gv, &message{})
		return nil
	})
	if err != nil || !apiutil.HasProtobuf(kind) {
		t.Errorf("after adding it: %v", err)
	}
	want := errors.New("no")
	if err := apiutil.AddToProtobufScheme(func(*runtime.Scheme) error { return want }); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

func TestDiscoveryErrorsCanBeToldApart(t *testing.T) {
	gone := &meta.NoResourceMatchError{}
	failed := &apiutil.ErrResourceDiscoveryFailed{{Group: "b", Version: "v1"}: errors.New("down"), {Group: "a", Version: "v1"}: gone}
	if !meta.IsNoMatchError(failed) {
		t.Error("does not say that a group version is missing")
	}
	if got := failed.Error(); got != "server resources unknown: a/v1: "+gone.Error()+", b/v1: down" {
		t.Error(got)
	}
	var err error = failed
	if errors.Is(err, http.ErrBodyNotAllowed) {
		t.Error("is an error that it does not hold")
	}
}
