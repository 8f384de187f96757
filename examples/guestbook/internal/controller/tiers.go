package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/utils/ptr"

	webappv1 "my.domain/guestbook/api/v1"
)

// store is what keeps the entries.
const store = "redis:8-alpine"

// A tier is one of the parts of a guestbook.
type tier struct {
	role      string
	replicas  int32
	container *corev1ac.ContainerApplyConfiguration
	port      int32
}

// tiers are the parts of a guestbook. Each finds the others by the names of their Services.
func tiers(guestbook *webappv1.Guestbook) []tier {
	leader := guestbook.Name + "-leader"
	follower := guestbook.Name + "-follower"
	return []tier{
		{"leader", 1, corev1ac.Container().WithName("redis").WithImage(store), 6379},
		{
			"follower", ptr.Deref(guestbook.Spec.Followers, 1),
			corev1ac.Container().WithName("redis").WithImage(store).WithArgs("redis-server", "--replicaof", leader, "6379"), 6379,
		},
		{
			"frontend", ptr.Deref(guestbook.Spec.Frontends, 1),
			corev1ac.Container().WithName("frontend").WithImage(guestbook.Spec.Image).WithEnv(
				corev1ac.EnvVar().WithName("GET_HOSTS_FROM").WithValue("env"),
				corev1ac.EnvVar().WithName("REDIS_LEADER_SERVICE_HOST").WithValue(leader),
				corev1ac.EnvVar().WithName("REDIS_FOLLOWER_SERVICE_HOST").WithValue(follower),
			), 80,
		},
	}
}

func (t tier) name(guestbook *webappv1.Guestbook) string { return guestbook.Name + "-" + t.role }

func (t tier) labels(guestbook *webappv1.Guestbook) map[string]string {
	return map[string]string{
		"app.kubernetes.io/name": "guestbook", "app.kubernetes.io/instance": guestbook.Name, "app.kubernetes.io/component": t.role,
	}
}

func (t tier) deployment(guestbook *webappv1.Guestbook, owner *metav1ac.OwnerReferenceApplyConfiguration) *appsv1ac.DeploymentApplyConfiguration {
	labels := t.labels(guestbook)
	container := t.container.WithPorts(corev1ac.ContainerPort().WithName("tcp").WithContainerPort(t.port).WithProtocol(corev1.ProtocolTCP))
	return appsv1ac.Deployment(t.name(guestbook), guestbook.Namespace).WithLabels(labels).WithOwnerReferences(owner).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(t.replicas).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().WithLabels(labels).WithSpec(corev1ac.PodSpec().WithContainers(container))))
}

func (t tier) service(guestbook *webappv1.Guestbook, owner *metav1ac.OwnerReferenceApplyConfiguration) *corev1ac.ServiceApplyConfiguration {
	labels := t.labels(guestbook)
	return corev1ac.Service(t.name(guestbook), guestbook.Namespace).WithLabels(labels).WithOwnerReferences(owner).
		WithSpec(corev1ac.ServiceSpec().WithSelector(labels).
			WithPorts(corev1ac.ServicePort().WithName("tcp").WithPort(t.port).WithTargetPort(intstr.FromString("tcp")).WithProtocol(corev1.ProtocolTCP)))
}

// ready reports whether a tier's Deployment is as wanted, down to the last pod.
func (t tier) ready(deployment *appsv1.Deployment) bool {
	status := deployment.Status
	return status.ObservedGeneration == deployment.Generation && status.UpdatedReplicas == t.replicas && status.ReadyReplicas == t.replicas
}
