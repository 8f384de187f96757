package nodes_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func capacity(s string) resource.Quantity { return resource.MustParse(s) }

func TestNodesAreReadyWithLeases(t *testing.T) {
	c, ns := start(t)
	list, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Items) != nodeCount {
		t.Errorf("%d nodes", len(list.Items))
	}
	for _, n := range list.Items {
		if !nodeReady(&n) || len(n.Spec.Taints) > 0 || n.Status.NodeInfo.KubeletVersion != "v1.37.1" || n.Spec.PodCIDR == "" {
			t.Errorf("%s: taints %v, ready %v, %+v", n.Name, n.Spec.Taints, nodeReady(&n), n.Status.NodeInfo)
		}
		c.await(t, ns, "lease", func(ctx context.Context) (bool, string) {
			l, err := c.CoordinationV1().Leases(corev1.NamespaceNodeLease).Get(ctx, n.Name, metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			return *l.Spec.LeaseDurationSeconds == 40 && time.Since(l.Spec.RenewTime.Time) < 20*time.Second && l.OwnerReferences[0].UID == n.UID, l.String()
		})
	}
	t.Logf("%d nodes ready after %s", nodeCount, c.atOnce.Round(time.Millisecond))
}

func nodeReady(n *corev1.Node) bool {
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func TestGivenUpNodeRecovers(t *testing.T) {
	c, ns := start(t)
	node, err := c.CoreV1().Nodes().Get(t.Context(), "operon-node-0", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range node.Status.Conditions {
		node.Status.Conditions[i].Status = corev1.ConditionUnknown
	}
	if _, err := c.CoreV1().Nodes().UpdateStatus(t.Context(), node, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, ns, "node is ready again", func(ctx context.Context) (bool, string) {
		n, err := c.CoreV1().Nodes().Get(ctx, node.Name, metav1.GetOptions{})
		return err == nil && nodeReady(n) && len(n.Spec.Taints) == 0, fmt.Sprint(err, n.Status.Conditions, n.Spec.Taints)
	})
}

func TestNodesAndPodsAreTakenOver(t *testing.T) {
	c, ns := start(t)
	c.create(t, ns, bare(nil))
	before := c.awaitPod(t, ns, "ready", isReady)
	old, err := c.CoreV1().Nodes().Get(t.Context(), before.Spec.NodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	t.Logf("nodes stopped in %s", time.Since(began).Round(time.Millisecond))
	// What happened while nobody was there is made up for.
	second := bare(nil)
	second.Name = "q"
	c.create(t, ns, second)
	c.await(t, ns, "second pod is bound", func(ctx context.Context) (bool, string) {
		p, err := c.CoreV1().Pods(ns).Get(ctx, "q", metav1.GetOptions{})
		return err == nil && p.Spec.NodeName != "", fmt.Sprint(err)
	})
	if err := c.runNodes(nodeCount + 1); err != nil {
		t.Fatal(err)
	}
	c.await(t, ns, "second pod is ready", func(ctx context.Context) (bool, string) {
		p, err := c.CoreV1().Pods(ns).Get(ctx, "q", metav1.GetOptions{})
		return err == nil && isReady(p) && p.Status.PodIP != before.Status.PodIP, fmt.Sprint(err)
	})
	after, err := c.CoreV1().Pods(ns).Get(t.Context(), "p", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after.ResourceVersion != before.ResourceVersion {
		t.Errorf("a pod that ran on was written: %+v to %+v", before.Status, after.Status)
	}
	node, err := c.CoreV1().Nodes().Get(t.Context(), old.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if node.UID != old.UID || node.Status.NodeInfo.BootID == old.Status.NodeInfo.BootID || !nodeReady(node) || len(node.Spec.Taints) > 0 {
		t.Errorf("node was %s (boot %s), is %s (boot %s), taints %v", old.UID, old.Status.NodeInfo.BootID, node.UID, node.Status.NodeInfo.BootID, node.Spec.Taints)
	}
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	if err := c.runNodes(nodeCount); err != nil {
		t.Fatal(err)
	}
	c.await(t, ns, "the node that is one too many is gone", func(ctx context.Context) (bool, string) {
		_, err := c.CoreV1().Nodes().Get(ctx, fmt.Sprintf("operon-node-%d", nodeCount), metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprint(err)
	})
}
