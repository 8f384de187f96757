package cache

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/operon-dev/operon/pkg/client"
)

// TestKindsThatAreNeverListedAreRefused reads a Binding, which servers take and never give: waiting for a watch of them would never end.
func TestKindsThatAreNeverListedAreRefused(t *testing.T) {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Binding"), meta.RESTScopeNamespace)
	c, err := New(newTestServer(t).config(), Options{Mapper: mapper})
	if err != nil {
		t.Fatal(err)
	}
	run(t, c)
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "b"}, &corev1.Binding{}); !runtime.IsNotRegisteredError(err) {
		t.Errorf("Get: %v", err)
	}
	if _, err := c.GetInformer(t.Context(), &corev1.Binding{}); !runtime.IsNotRegisteredError(err) {
		t.Errorf("GetInformer: %v", err)
	}
}
