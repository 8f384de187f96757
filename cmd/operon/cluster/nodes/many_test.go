package nodes_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestManyPods brings up as many pods as OPERON_NODES_PODS says, 500 by default, takes them away again, and says how fast that was.
func TestManyPods(t *testing.T) {
	c, ns := start(t)
	count := 500
	if n, err := strconv.Atoi(os.Getenv("OPERON_NODES_PODS")); err == nil {
		count = n
	}
	d := deployment(int32(count))
	d.Spec.Strategy.Type = "Recreate"
	began := time.Now()
	if _, err := c.AppsV1().Deployments(ns).Create(t.Context(), d, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	limit := time.Minute + time.Duration(count)*50*time.Millisecond
	reach := func(available int) {
		t.Helper()
		await(t, limit, fmt.Sprintf("%d available pods", available), func(ctx context.Context) (bool, string) {
			got, err := c.AppsV1().Deployments(ns).Get(ctx, "web", metav1.GetOptions{})
			if err != nil {
				return false, err.Error()
			}
			return int(got.Status.AvailableReplicas) == available && int(got.Status.Replicas) == available && got.Status.ObservedGeneration == got.Generation,
				fmt.Sprintf("%+v", got.Status)
		}, c.AppsV1().Deployments(ns).Watch)
	}
	reach(count)
	up := time.Since(began)

	pods, err := c.CoreV1().Pods(ns).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	addresses := map[string]bool{}
	var slowest, total time.Duration
	for _, p := range pods.Items {
		addresses[p.Status.PodIP] = true
		var bound, ready time.Time
		for _, c := range p.Status.Conditions {
			switch c.Type {
			case corev1.PodScheduled:
				bound = c.LastTransitionTime.Time
			case corev1.PodReady:
				ready = c.LastTransitionTime.Time
			}
		}
		slowest = max(slowest, ready.Sub(bound))
		total += ready.Sub(bound)
	}
	if len(addresses) != count {
		t.Errorf("%d pods, %d addresses", count, len(addresses))
	}
	t.Logf("%d pods ready in %s, %.0f pods/s; bound to ready at most %s, on average %s, to the second", count, up.Round(10*time.Millisecond),
		float64(count)/up.Seconds(), slowest, total/time.Duration(len(pods.Items)))

	began = time.Now()
	if _, err := c.AppsV1().Deployments(ns).Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	reach(0)
	await(t, limit, "no pods", func(ctx context.Context) (bool, string) {
		list, err := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{Limit: 1})
		if err != nil {
			return false, err.Error()
		}
		return len(list.Items) == 0, fmt.Sprintf("%+v", list.Items)
	}, c.CoreV1().Pods(ns).Watch)
	t.Logf("gone in %s, %.0f pods/s", time.Since(began).Round(10*time.Millisecond), float64(count)/time.Since(began).Seconds())
}
