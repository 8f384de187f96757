package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// awaitReady returns when the server calls itself ready and the nodes are Ready.
func (c *Cluster) awaitReady(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if c.opts.RunNodes != nil && c.opts.Nodes > 0 {
		if err := awaitNodes(ctx, client, c.opts.Nodes); err != nil {
			return fmt.Errorf("nodes: %w", err)
		}
	}
	return awaitReadyz(ctx, client)
}

// awaitReadyz asks the one readiness that has no watch.
func awaitReadyz(ctx context.Context, client kubernetes.Interface) error {
	for {
		if _, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").DoRaw(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func awaitNodes(ctx context.Context, client kubernetes.Interface, want int) error {
	ready := map[string]bool{}
	lw := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "nodes", metav1.NamespaceAll, fields.Everything())
	_, err := watchtools.UntilWithSync(ctx, lw, &corev1.Node{}, func(store cache.Store) (bool, error) {
		for _, obj := range store.List() {
			observe(ready, obj.(*corev1.Node))
		}
		return len(ready) >= want, nil
	}, func(event watch.Event) (bool, error) {
		if node, ok := event.Object.(*corev1.Node); ok {
			observe(ready, node)
			if event.Type == watch.Deleted {
				delete(ready, node.Name)
			}
		}
		return len(ready) >= want, nil
	})
	return err
}

func observe(ready map[string]bool, node *corev1.Node) {
	delete(ready, node.Name)
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			ready[node.Name] = true
		}
	}
}
