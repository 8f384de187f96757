package fake_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
)

func deploymentNumber(i int) *appsv1.Deployment {
	labels := map[string]string{"app": "x"}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: fmt.Sprint("d-", i), Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "b", Env: []corev1.EnvVar{{Name: "x", Value: "y"}}}}},
			},
		},
	}
}

func benchmark(b *testing.B, prepare, op func(c client.Client, i int) error) {
	c := fake.NewClientBuilder().Build()
	for i := range 100 {
		if err := prepare(c, i); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if err := op(c, i); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkClient(b *testing.B) {
	nothing := func(client.Client, int) error { return nil }
	hundred := func(c client.Client, i int) error { return c.Create(b.Context(), deploymentNumber(i)) }
	b.Run("Create", func(b *testing.B) {
		benchmark(b, nothing, func(c client.Client, i int) error { return c.Create(b.Context(), deploymentNumber(i)) })
	})
	b.Run("Get", func(b *testing.B) {
		benchmark(b, hundred, func(c client.Client, i int) error {
			return c.Get(b.Context(), client.ObjectKey{Namespace: "ns", Name: fmt.Sprint("d-", i%100)}, &appsv1.Deployment{})
		})
	})
	b.Run("GetUpdate", func(b *testing.B) {
		benchmark(b, hundred, func(c client.Client, i int) error {
			d := &appsv1.Deployment{}
			if err := c.Get(b.Context(), client.ObjectKey{Namespace: "ns", Name: fmt.Sprint("d-", i%100)}, d); err != nil {
				return err
			}
			d.Labels["changed"] = fmt.Sprint(i)
			return c.Update(b.Context(), d)
		})
	})
	b.Run("List100", func(b *testing.B) {
		benchmark(b, hundred, func(c client.Client, i int) error { return c.List(b.Context(), &appsv1.DeploymentList{}) })
	})
	b.Run("Apply", func(b *testing.B) {
		apply := func(c client.Client, i int) error {
			config := corev1ac.ConfigMap(fmt.Sprint("c-", i%100), "ns").WithData(map[string]string{"a": fmt.Sprint(i)})
			return c.Apply(b.Context(), config, client.FieldOwner("me"))
		}
		benchmark(b, apply, apply)
	})
}
