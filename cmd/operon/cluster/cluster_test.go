package cluster

import (
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestClustersLiveSideBySideAndAfterEachOtherInOneProcess(t *testing.T) {
	setupLogging(0, os.Stderr)
	componentExits(func(err error) { t.Errorf("a component gave up: %v", err) })
	t.Setenv("TMPDIR", t.TempDir())

	first, second := bringUp(t), bringUp(t)
	create(t, first, "here")
	list, err := client(t, second).CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=here"})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("the second cluster has %d of the first one's objects: %v", len(list.Items), err)
	}
	if err := first.Stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	create(t, second, "still-works")
	third := bringUp(t)
	create(t, third, "here")
	for _, c := range []*Cluster{second, third} {
		if err := c.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func bringUp(t *testing.T) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func client(t *testing.T, c *Cluster) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func create(t *testing.T, c *Cluster, name string) {
	t.Helper()
	_, err := client(t, c).CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	if err != nil {
		t.Errorf("ConfigMap %s: %v", name, err)
	}
}
