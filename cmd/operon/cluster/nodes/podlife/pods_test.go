package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func pod(policy corev1.RestartPolicy, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", UID: "u", Generation: 1},
		Spec:       corev1.PodSpec{NodeName: "n", RestartPolicy: policy, Containers: containers},
		Status:     corev1.PodStatus{Phase: corev1.PodPending},
	}
}

func ctr(name string) corev1.Container { return corev1.Container{Name: name, Image: name + ":1"} }

func command(name string, argv ...string) corev1.Container {
	return corev1.Container{Name: name, Image: name + ":1", Command: argv}
}

func probed(name string, argv ...string) corev1.Container {
	c := ctr(name)
	c.ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: argv}}}
	return c
}

func side(name string) corev1.Container {
	c := ctr(name)
	c.RestartPolicy = ptr(corev1.ContainerRestartPolicyAlways)
	return c
}

func inits(p *corev1.Pod, containers ...corev1.Container) *corev1.Pod {
	p.Spec.InitContainers = containers
	return p
}

func note(p *corev1.Pod, key, value string) *corev1.Pod {
	metav1.SetMetaDataAnnotation(&p.ObjectMeta, key, value)
	return p
}

func edit(p *corev1.Pod, f func(*corev1.Pod)) *corev1.Pod {
	f(p)
	return p
}

// deleted asks the pod to go, as the API server does it.
func deleted(at time.Duration, grace int64) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		t := metav1.NewTime(begin.Add(at + time.Duration(grace)*time.Second).Truncate(time.Second))
		p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &t, &grace
	}
}

func quantity(s string) resource.Quantity { return resource.MustParse(s) }

func ptr[T any](v T) *T { return &v }
