package scheme_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/scheme"
)

func TestABuilderAddsWhatWasRegistered(t *testing.T) {
	one := &scheme.Builder{GroupVersion: schema.GroupVersion{Group: "one.io", Version: "v1"}}
	one.Register(&corev1.Pod{}, &corev1.PodList{}).Register(&corev1.Secret{})
	two := &scheme.Builder{GroupVersion: schema.GroupVersion{Group: "two.io", Version: "v2"}}
	two.Register(&corev1.Node{}).RegisterAll(one)
	s, err := two.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []schema.GroupVersionKind{
		one.GroupVersion.WithKind("Pod"), one.GroupVersion.WithKind("PodList"), one.GroupVersion.WithKind("Secret"),
		one.GroupVersion.WithKind("ListOptions"), two.GroupVersion.WithKind("Node"), two.GroupVersion.WithKind("DeleteOptions"),
	} {
		if !s.Recognizes(kind) {
			t.Errorf("the scheme does not know %s", kind)
		}
	}
	into := runtime.NewScheme()
	if err := one.AddToScheme(into); err != nil {
		t.Fatal(err)
	}
	if into.Recognizes(two.GroupVersion.WithKind("Node")) || !into.Recognizes(one.GroupVersion.WithKind("Pod")) {
		t.Errorf("added %v", into.AllKnownTypes())
	}
}
