package cache_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
)

// testEndsOfNamespaces is about namespaces, which are held by spec.finalizers and not only by those of the metadata.
func testEndsOfNamespaces(t *testing.T, cfg *rest.Config) {
	ctx := t.Context()
	ofNamespace := func(name string) *metav1.PartialObjectMetadata {
		m := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: name}}
		m.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		return m
	}
	for name, end := range map[string]func(c client.Client, ns *corev1.Namespace) error{
		"deleted": func(c client.Client, ns *corev1.Namespace) error { return c.Delete(ctx, ns) },
		"deleted-metadata": func(c client.Client, ns *corev1.Namespace) error {
			return c.Delete(ctx, ofNamespace(ns.Name))
		},
		"updated": func(c client.Client, ns *corev1.Namespace) error {
			if err := c.Delete(ctx, ns); err != nil {
				return err
			}
			if err := c.Get(ctx, client.ObjectKeyFromObject(ns), ns); err != nil {
				return err
			}
			ns.Annotations = map[string]string{"seen": "yes"}
			return c.Update(ctx, ns)
		},
		"patched-metadata": func(c client.Client, ns *corev1.Namespace) error {
			if err := c.Delete(ctx, ns); err != nil {
				return err
			}
			return c.Patch(ctx, ofNamespace(ns.Name), client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"seen":"yes"}}}`)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, w, _ := cached(t, cfg, cache.Options{})
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if err := w.Create(ctx, ns); err != nil {
				t.Fatal(err)
			}
			if err := w.List(ctx, &corev1.NamespaceList{}); err != nil {
				t.Fatal(err)
			}
			if err := end(w, ns.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			var got corev1.Namespace
			if err := w.Get(ctx, client.ObjectKeyFromObject(ns), &got); err != nil {
				t.Fatalf("the namespace is being terminated, and the cache says: %v", err)
			}
			if got.DeletionTimestamp == nil {
				t.Error("its deletion does not show")
			}
			// Nobody is there to empty it: the test is.
			got.Spec.Finalizers = nil
			if err := w.SubResource("finalize").Update(ctx, &got); err != nil {
				t.Fatal(err)
			}
			await(t, "the namespace is gone", func() bool {
				return apierrors.IsNotFound(w.Get(ctx, client.ObjectKeyFromObject(ns), &got))
			})
		})
	}
}
