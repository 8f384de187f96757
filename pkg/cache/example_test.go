package cache_test

import (
	"context"
	"fmt"

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
