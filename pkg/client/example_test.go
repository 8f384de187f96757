package client_test

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/config"
)

var (
	ctx = context.Background()
	c   client.Client
)

func ExampleNew() {
	cfg := config.GetConfigOrDie()
	c, err := client.New(cfg, client.Options{FieldOwner: "example"})
	if err != nil {
		panic(err)
	}
	pods := &corev1.PodList{}
	err = c.List(ctx, pods, client.InNamespace("default"), client.MatchingLabels{"app": "web"})
	if err != nil {
		panic(err)
	}
}

func ExampleMergeFrom() {
	pod := &corev1.Pod{}
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "web"}, pod); err != nil {
		panic(err)
	}
	base := pod.DeepCopy()
	pod.Labels["seen"] = "yes"
	if err := c.Patch(ctx, pod, client.MergeFrom(base)); err != nil {
		panic(err)
	}
}

func ExampleWriter_apply() {
	settings := corev1ac.ConfigMap("settings", "default").WithData(map[string]string{"colour": "blue"})
	if err := c.Apply(ctx, settings, client.FieldOwner("example"), client.ForceOwnership); err != nil {
		panic(err)
	}
}

func ExampleWithSubResourceBody() {
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = "default", "web"
	scale := &autoscalingv1.Scale{}
	if err := c.SubResource("scale").Get(ctx, deployment, scale); err != nil {
		panic(err)
	}
	scale.Spec.Replicas = 5
	if err := c.SubResource("scale").Update(ctx, deployment, client.WithSubResourceBody(scale)); err != nil {
		panic(err)
	}
}
