package nodes_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOfTwoPodsThatWereBoundToAPortOneIsRefused(t *testing.T) {
	c, ns := start(t)
	list, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if _, err := c.CoreV1().Pods(ns).Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("web-%d", i)},
			Spec: corev1.PodSpec{
				NodeName:   list.Items[0].Name,
				Containers: []corev1.Container{{Name: "web", Image: "web:1", Ports: []corev1.ContainerPort{{ContainerPort: 80, HostPort: 32080}}}},
			},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	c.await(t, ns, "one pod that runs and one that was refused", func(ctx context.Context) (bool, string) {
		pods, err := c.CoreV1().Pods(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		running, refused := 0, 0
		state := ""
		for i := range pods.Items {
			st := &pods.Items[i].Status
			state += fmt.Sprintf("%s %s %s; ", st.Phase, st.Reason, st.Message)
			switch {
			case st.Phase == corev1.PodRunning:
				running++
			case st.Phase == corev1.PodFailed && st.Reason == "NodePorts" && st.PodIP == "":
				refused++
			}
		}
		return running == 1 && refused == 1, state
	})
}
