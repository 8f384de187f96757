package nodes_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestADeviceGoesFromPodToPod(t *testing.T) {
	c, ns := start(t)
	// The namespace makes the names of what has none its own.
	driver, node := ns+".operon.dev", "operon-node-1"
	ctx, api := t.Context(), c.ResourceV1()
	if _, err := api.DeviceClasses().Create(ctx, &resourcev1.DeviceClass{
		ObjectMeta: metav1.ObjectMeta{Name: driver},
		Spec: resourcev1.DeviceClassSpec{Selectors: []resourcev1.DeviceSelector{
			{CEL: &resourcev1.CELDeviceSelector{Expression: fmt.Sprintf("device.driver == %q", driver)}},
		}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.ResourceSlices().Create(ctx, &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: ns},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: driver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: "pool", ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "only"}},
		},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := api.ResourceClaimTemplates(ns).Create(ctx, &resourcev1.ResourceClaimTemplate{
		ObjectMeta: metav1.ObjectMeta{Name: "device"},
		Spec: resourcev1.ResourceClaimTemplateSpec{Spec: resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
			{Name: "one", Exactly: &resourcev1.ExactDeviceRequest{DeviceClassName: driver}},
		}}}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	pods := c.CoreV1().Pods(ns)
	for _, name := range []string{"first", "second"} {
		if _, err := pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.PodSpec{
				ResourceClaims: []corev1.PodResourceClaim{{Name: "it", ResourceClaimTemplateName: new("device")}},
				Containers: []corev1.Container{{
					Name: "main", Image: "main:1",
					Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "it"}}},
				}},
			},
		}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	// Which of the two gets it first is the scheduler's choice.
	var holder string
	holds := func(ctx context.Context) (bool, string) {
		list, err := pods.List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err.Error()
		}
		state := ""
		for i := range list.Items {
			p := &list.Items[i]
			if p.Status.Phase == corev1.PodRunning && p.Spec.NodeName == node && p.Name != holder {
				holder = p.Name
				return true, ""
			}
			state += fmt.Sprintf("%s: %s on %q, %+v; ", p.Name, p.Status.Phase, p.Spec.NodeName, p.Status.Conditions)
		}
		return false, state
	}
	c.await(t, ns, "a pod that runs with the device", holds)
	if err := pods.Delete(ctx, holder, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.await(t, ns, "the other pod, with the device that came free", holds)
}
