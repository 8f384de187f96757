package controller

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

const (
	labelName      = "app.kubernetes.io/name"
	labelInstance  = "app.kubernetes.io/instance"
	labelManagedBy = "app.kubernetes.io/managed-by"

	appName     = "memcached"
	managerName = "memcached-operator"
	portName    = "memcached"
	port        = 11211
)

func selectorLabels(memcached *cachev1alpha1.Memcached) map[string]string {
	return map[string]string{labelName: appName, labelInstance: memcached.Name}
}

// setDeployment sets the fields of deployment that this operator answers for. The container is changed where it stands:
// what the API server defaulted in it, and what others added beside it, stays.
func setDeployment(deployment *appsv1.Deployment, memcached *cachev1alpha1.Memcached) {
	selector := selectorLabels(memcached)
	setLabels(&deployment.ObjectMeta, selector)
	setLabels(&deployment.ObjectMeta, map[string]string{labelManagedBy: managerName})

	deployment.Spec.Replicas = ptr.To(memcached.Spec.Size)
	if deployment.Spec.Selector == nil { // immutable once it is there
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: selector}
	}

	template := &deployment.Spec.Template
	setLabels(&template.ObjectMeta, selector)
	template.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot:   ptr.To(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	container := containerNamed(&template.Spec, appName)
	container.Image = memcached.Spec.Image
	container.Ports = []corev1.ContainerPort{{Name: portName, ContainerPort: port, Protocol: corev1.ProtocolTCP}}
	container.SecurityContext = &corev1.SecurityContext{
		RunAsUser:                ptr.To[int64](11211),
		AllowPrivilegeEscalation: ptr.To(false),
		Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// setService sets the fields of service that this operator answers for.
func setService(service *corev1.Service, memcached *cachev1alpha1.Memcached) {
	setLabels(&service.ObjectMeta, selectorLabels(memcached))
	setLabels(&service.ObjectMeta, map[string]string{labelManagedBy: managerName})

	if service.ResourceVersion == "" { // immutable once it is there
		// Headless: a memcached client spreads its keys over the nodes itself, so it has to see each of them.
		service.Spec.ClusterIP = corev1.ClusterIPNone
	}
	service.Spec.Selector = selectorLabels(memcached)
	service.Spec.Ports = []corev1.ServicePort{{
		Name: portName, Port: port, TargetPort: intstr.FromString(portName), Protocol: corev1.ProtocolTCP,
	}}
}

func setLabels(meta *metav1.ObjectMeta, labels map[string]string) {
	if meta.Labels == nil {
		meta.Labels = map[string]string{}
	}
	maps.Copy(meta.Labels, labels)
}

// containerNamed is the container of that name in pod, added to it if it isn't there.
func containerNamed(pod *corev1.PodSpec, name string) *corev1.Container {
	for i := range pod.Containers {
		if pod.Containers[i].Name == name {
			return &pod.Containers[i]
		}
	}
	pod.Containers = append(pod.Containers, corev1.Container{Name: name})
	return &pod.Containers[len(pod.Containers)-1]
}
