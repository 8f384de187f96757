package nodes_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/operon-dev/operon/pkg/envtest"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestCommandIsReadyWithItsNodes(t *testing.T) {
	if os.Getenv("OPERON") == "" {
		t.Skip("needs an API server: OPERON does not name the operon command")
	}
	env := envtest.Environment{Nodes: 2}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ready := 0
	for i := range nodes.Items {
		if nodeReady(&nodes.Items[i]) {
			ready++
		}
	}
	if ready != 2 {
		t.Errorf("%d of %d nodes are ready", ready, len(nodes.Items))
	}
	c := &cluster{Interface: client}
	if _, err := client.AppsV1().Deployments("default").Create(t.Context(), deployment(4), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, "default", "four available replicas", func(ctx context.Context) (bool, string) {
		d, err := client.AppsV1().Deployments("default").Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.AvailableReplicas == 4, fmt.Sprint(err, d.Status)
	})
}
