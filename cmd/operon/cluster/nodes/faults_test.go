package nodes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// annotateNode sets an annotation of a node, or takes it away when the value is empty, and takes it away at the end in any case.
func (c *cluster) annotateNode(t *testing.T, node, key, value string) {
	t.Helper()
	annotate := func(ctx context.Context, value string) {
		t.Helper()
		text := "null"
		if value != "" {
			text = fmt.Sprintf("%q", value)
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, key, text)
		if _, err := c.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	annotate(t.Context(), value)
	if value != "" {
		t.Cleanup(func() { annotate(context.Background(), "") })
	}
}

func (c *cluster) awaitCondition(t *testing.T, node string, kind corev1.NodeConditionType, want corev1.ConditionStatus, reason string) {
	t.Helper()
	c.await(t, "default", fmt.Sprintf("%s is %s: %s", kind, want, reason), func(ctx context.Context) (bool, string) {
		n, err := c.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return false, err.Error()
		}
		for _, cond := range n.Status.Conditions {
			if cond.Type == kind {
				return cond.Status == want && cond.Reason == reason, fmt.Sprintf("%+v", cond)
			}
		}
		return false, "no such condition"
	})
}

func TestANodeSaysOfItselfWhatItsAnnotationsSay(t *testing.T) {
	c, _ := start(t)
	const node = "operon-node-2"
	for _, tt := range []struct {
		kind      corev1.NodeConditionType
		status    corev1.ConditionStatus
		reason    string
		well      corev1.ConditionStatus
		againWell string
	}{
		{corev1.NodeReady, corev1.ConditionFalse, "KubeletNotReady", corev1.ConditionTrue, "KubeletReady"},
		{corev1.NodeDiskPressure, corev1.ConditionTrue, "KubeletHasDiskPressure", corev1.ConditionFalse, "KubeletHasNoDiskPressure"},
	} {
		key := "sim.operon.dev/condition." + string(tt.kind)
		c.annotateNode(t, node, key, string(tt.status))
		c.awaitCondition(t, node, tt.kind, tt.status, tt.reason)
		c.annotateNode(t, node, key, "")
		c.awaitCondition(t, node, tt.kind, tt.well, tt.againWell)
	}
}

func TestPodsOfAnUnreachableNodeStayUntilItIsBack(t *testing.T) {
	c, ns := start(t)
	const node, key = "operon-node-2", "sim.operon.dev/unreachable"
	pod := func(name string) *corev1.Pod {
		p := bare(nil)
		// Bound by hand, past the scheduler, to whom a node that was unreachable is tainted.
		p.Name, p.Spec.NodeName = name, node
		return p
	}
	c.create(t, ns, pod("p"))
	c.awaitPod(t, ns, "ready", isReady)
	c.annotateNode(t, node, key, "true")
	// What tells that it was seen is the event that a later annotation makes.
	c.annotateNode(t, node, "sim.operon.dev/nonsense", "1")
	c.await(t, "default", "an event about the annotation", func(ctx context.Context) (bool, string) {
		events, err := c.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=InvalidSimulation,involvedObject.name=" + node})
		if err != nil || len(events.Items) == 0 {
			return false, fmt.Sprint(err)
		}
		text := events.Items[0].Message
		return strings.Contains(text, "sim.operon.dev/nonsense"), text
	})
	if err := c.CoreV1().Pods(ns).Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	// A pod on another node comes up meanwhile.
	other := pod("other")
	other.Spec.NodeName = "operon-node-1"
	c.create(t, ns, other)
	c.await(t, ns, "a pod elsewhere is ready", func(ctx context.Context) (bool, string) {
		p, err := c.CoreV1().Pods(ns).Get(ctx, "other", metav1.GetOptions{})
		return err == nil && isReady(p), fmt.Sprintf("%v %+v", err, p)
	})
	p, err := c.CoreV1().Pods(ns).Get(t.Context(), "p", metav1.GetOptions{})
	if err != nil || p.DeletionTimestamp == nil {
		t.Errorf("the deleted pod of an unreachable node: %v, want it terminating", err)
	}
	c.annotateNode(t, node, key, "")
	c.awaitGone(t, ns)
}
