package cache_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/operon-dev/operon/pkg/cache"
	"github.com/operon-dev/operon/pkg/client"
)

// Pods of one namespace, but for those of a noisy job, and everything else from anywhere.
func ExampleOptions() {
	quiet, err := labels.Parse("job-name!=noise")
	if err != nil {
		panic(err)
	}
	_ = cache.Options{
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}: {Namespaces: map[string]cache.Config{"shop": {LabelSelector: quiet}}},
		},
	}
}

// The pods of a ReplicaSet, without a copy of any.
func ExampleAll() {
	running := func(ctx context.Context, c cache.Cache, rs *appsv1.ReplicaSet) (int, error) {
		pods, err := cache.All[*corev1.Pod](ctx, c, client.InNamespace(rs.Namespace), cache.OwnedBy(rs.UID))
		if err != nil {
			return 0, fmt.Errorf("pods of %s: %w", rs.Name, err)
		}
		n := 0
		for pod := range pods { // shared: to be looked at, not to be changed
			if pod.Status.Phase == corev1.PodRunning {
				n++
			}
		}
		return n, nil
	}
	_ = running
}

// One field of one object, without a copy.
func ExampleLend() {
	size := func(ctx context.Context, c cache.Cache, key client.ObjectKey) (int32, error) {
		deployment, err := cache.Lend[*appsv1.Deployment](ctx, c, key)
		if err != nil {
			return 0, err
		}
		return deployment.Status.ReadyReplicas, nil
	}
	_ = size
}

// Pods that have not come to an end on one node, from an index.
func ExampleFieldIn() {
	setup := func(ctx context.Context, c cache.Cache) error {
		return c.IndexField(ctx, &corev1.Pod{}, "status.phase", func(o client.Object) []string {
			return []string{string(o.(*corev1.Pod).Status.Phase)}
		})
	}
	list := func(ctx context.Context, c cache.Cache) (*corev1.PodList, error) {
		var pods corev1.PodList
		err := c.List(ctx, &pods, cache.FieldIn("status.phase", string(corev1.PodPending), string(corev1.PodRunning)))
		return &pods, err
	}
	_, _ = setup, list
}

// A tenant comes and goes while the manager runs.
func ExampleAddNamespace() {
	tenant := func(ctx context.Context, c cache.Cache, namespace string, there bool) error {
		if !there {
			return cache.RemoveNamespace(c, namespace)
		}
		return cache.AddNamespace(ctx, c, namespace, cache.Config{})
	}
	_ = tenant
}

// Tests in which nobody may write into what the cache lends.
func ExampleMutation() {
	options := func(t *testing.T) cache.Options {
		return cache.Options{OnMutation: func(m cache.Mutation) { t.Error(m) }}
	}
	_ = options
}
