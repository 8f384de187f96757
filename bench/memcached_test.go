package main

import (
	"errors"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	peerfake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
	"github.com/operon-dev/operon/pkg/client/fake"
)

func TestTheMemcachedReconcilerConvergesInTwoRoundsOnBothLibraries(t *testing.T) {
	known := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(known), v1alpha1.AddToScheme(known)); err != nil {
		t.Fatal(err)
	}
	memcached := &v1alpha1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cache"},
		Spec:       v1alpha1.MemcachedSpec{Size: 3, Image: "memcached:1.6-alpine"},
	}
	for name, o := range map[string]objects{
		"operon":             ourObjects{fake.NewClientBuilder().WithScheme(known).WithStatusSubresource(memcached).Build()},
		"controller-runtime": peerObjects{peerfake.NewClientBuilder().WithScheme(known).WithStatusSubresource(memcached).Build()},
	} {
		t.Run(name, func(t *testing.T) {
			if err := o.create(t.Context(), memcached.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			key := types.NamespacedName{Namespace: "default", Name: "cache"}
			m := &memcachedRun{written: map[string]int64{}}
			for range 2 {
				if done, err := m.reconcile(t.Context(), o, key); !done || err != nil {
					t.Fatalf("done %v, %v", done, err)
				}
			}
			var deployment appsv1.Deployment
			var service corev1.Service
			var after v1alpha1.Memcached
			if err := errors.Join(o.get(t.Context(), key, &deployment), o.get(t.Context(), key, &service), o.get(t.Context(), key, &after)); err != nil {
				t.Fatal(err)
			}
			if *deployment.Spec.Replicas != 3 || len(deployment.OwnerReferences) != 1 || len(service.Spec.Ports) != 1 || len(after.Status.Conditions) != 1 {
				t.Errorf("Deployment %+v, Service %+v, status %+v", deployment.Spec, service.Spec, after.Status)
			}
			if m.stale.Load() != 0 {
				t.Errorf("%d reads of a fake client count as stale", m.stale.Load())
			}
		})
	}
}
