package served

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// How many pods are of one app, how many apps in one namespace, and on how many nodes the pods of an app are.
const (
	PodsPerApp      = 100
	AppsInNamespace = 5
	NodesOfAnApp    = 5
)

// Pods is n pods as a ReplicaSet controller and a kubelet leave them: two
// containers, annotations, a status and the managedFields of both writers. Every
// PodsPerApp of them are one app: they share a label, a namespace, an owner and a
// template, and differ in names, UIDs, addresses, times and nodes. A namespace has
// 500 pods and a node 20, however many there are in all.
func Pods(n int) Set {
	return Set{
		GVK: corev1.SchemeGroupVersion.WithKind("Pod"), Plural: "pods", Count: n,
		make: func(i int) object { return Pod(i) },
	}
}

// AppName is the value of the label that the pods of an app have in common.
func AppName(app int) string { return fmt.Sprintf("app-%03d", app) }

// AppNamespace is the namespace of an app.
func AppNamespace(app int) string { return fmt.Sprintf("team-%02d", app/AppsInNamespace) }

// AppOwner is the UID of the owner of an app's pods.
func AppOwner(app int) types.UID {
	return types.UID(fmt.Sprintf("%08x-0000-4000-8000-000000000000", app+1))
}

// PodNode is the node that a pod is on.
func PodNode(i int) string {
	return fmt.Sprintf("node-%04d.eu-1.example.com", i/PodsPerApp*NodesOfAnApp+i%NodesOfAnApp)
}

// PodName is the name of a pod.
func PodName(i int) string {
	return fmt.Sprintf("%s-%s-%05x", AppName(i/PodsPerApp), appHash(i/PodsPerApp), i)
}

func appHash(app int) string { return fmt.Sprintf("%08x", uint32(app)*2654435761) }

// Pod makes one of them, the same each time.
func Pod(i int) *corev1.Pod {
	random := rand.New(rand.NewPCG(1, uint64(i)))
	app := i / PodsPerApp
	name := AppName(app)
	started := metav1.NewTime(time.Unix(1_780_000_000+int64(i)*7, 0).UTC())
	hash := appHash(app)
	address := fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)
	host := fmt.Sprintf("172.16.%d.%d", i%500>>8, i%500&255)

	return &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name:              PodName(i),
			GenerateName:      name + "-" + hash + "-",
			Namespace:         AppNamespace(app),
			UID:               types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", random.Uint32(), i&0xffff, i&0xfff, i&0xfff, random.Uint64()&0xffffffffffff)),
			ResourceVersion:   fmt.Sprint(firstVersion + i),
			CreationTimestamp: started,
			Labels: map[string]string{
				"app.kubernetes.io/name":       name,
				"app.kubernetes.io/part-of":    "shop",
				"app.kubernetes.io/managed-by": "helm",
				"pod-template-hash":            hash,
			},
			Annotations: map[string]string{
				"prometheus.io/scrape":                              "true",
				"prometheus.io/port":                                "8080",
				"kubectl.kubernetes.io/restartedAt":                 "2026-05-01T10:00:00Z",
				"cni.projectcalico.org/podIP":                       address + "/32",
				"cni.projectcalico.org/containerID":                 fmt.Sprintf("%016x%016x%016x%016x", random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64()),
				"checksum/config":                                   fmt.Sprintf("%064x", app),
				"sidecar.example.com/status":                        `{"containers":["proxy"],"volumes":["config","certs"],"revision":"default"}`,
				"cluster-autoscaler.kubernetes.io/safe-to-evict":    "true",
				"kubectl.kubernetes.io/default-container":           "server",
				"container.example.com/last-applied-security-level": "restricted",
			},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: name + "-" + hash, UID: AppOwner(app),
				Controller: ptr.To(true), BlockOwnerDeletion: ptr.To(true),
			}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kube-controller-manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &started,
					FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(controllerFields)},
				{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Time: &started,
					Subresource: "status", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(kubeletFields)},
			},
		},
		Spec: corev1.PodSpec{
			Containers:                    []corev1.Container{container("server", name, 8080), container("proxy", "proxy", 15090)},
			NodeName:                      PodNode(i),
			ServiceAccountName:            name,
			DeprecatedServiceAccount:      name,
			RestartPolicy:                 corev1.RestartPolicyAlways,
			DNSPolicy:                     corev1.DNSClusterFirst,
			SchedulerName:                 corev1.DefaultSchedulerName,
			TerminationGracePeriodSeconds: ptr.To[int64](30),
			Priority:                      ptr.To[int32](0),
			EnableServiceLinks:            ptr.To(true),
			SecurityContext:               &corev1.PodSecurityContext{RunAsNonRoot: ptr.To(true), FSGroup: ptr.To[int64](1000)},
			Tolerations: []corev1.Toleration{
				{Key: corev1.TaintNodeNotReady, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)},
				{Key: corev1.TaintNodeUnreachable, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: ptr.To[int64](300)},
			},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
					LocalObjectReference: corev1.LocalObjectReference{Name: name + "-config"}, DefaultMode: ptr.To[int32](420)}}},
				{Name: "certs", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
					SecretName: name + "-certs", DefaultMode: ptr.To[int32](420)}}},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, QOSClass: corev1.PodQOSBurstable, StartTime: &started,
			HostIP: host, HostIPs: []corev1.HostIP{{IP: host}},
			PodIP: address, PodIPs: []corev1.PodIP{{IP: address}},
			Conditions: []corev1.PodCondition{
				condition(corev1.PodReadyToStartContainers, started), condition(corev1.PodInitialized, started),
				condition(corev1.PodReady, started), condition(corev1.ContainersReady, started), condition(corev1.PodScheduled, started),
			},
			ContainerStatuses: []corev1.ContainerStatus{
				containerStatus("server", name, started, random), containerStatus("proxy", "proxy", started, random),
			},
		},
	}
}

func container(name, image string, port int32) corev1.Container {
	probe := &corev1.Probe{
		ProbeHandler:   corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(port), Scheme: corev1.URISchemeHTTP}},
		TimeoutSeconds: 1, PeriodSeconds: 10, SuccessThreshold: 1, FailureThreshold: 3,
	}
	return corev1.Container{
		Name: name, Image: "registry.example.com/shop/" + image + ":v1.24.3",
		Args:  []string{"--config=/etc/" + name + "/config.yaml", "--log-level=info"},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: port, Protocol: corev1.ProtocolTCP}},
		Env: []corev1.EnvVar{
			{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
			{Name: "GOMEMLIMIT", Value: "200MiB"},
			{Name: "ENVIRONMENT", Value: "production"},
		},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "config", MountPath: "/etc/" + name, ReadOnly: true},
			{Name: "certs", MountPath: "/var/run/certs", ReadOnly: true},
		},
		LivenessProbe: probe, ReadinessProbe: probe,
		ImagePullPolicy:          corev1.PullIfNotPresent,
		TerminationMessagePath:   corev1.TerminationMessagePathDefault,
		TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		SecurityContext: &corev1.SecurityContext{AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}},
	}
}

func containerStatus(name, image string, started metav1.Time, random *rand.Rand) corev1.ContainerStatus {
	return corev1.ContainerStatus{
		Name: name, Ready: true, Started: ptr.To(true),
		State:       corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		Image:       "registry.example.com/shop/" + image + ":v1.24.3",
		ImageID:     "registry.example.com/shop/" + image + "@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
		ContainerID: fmt.Sprintf("containerd://%016x%016x%016x%016x", random.Uint64(), random.Uint64(), random.Uint64(), random.Uint64()),
	}
}

func condition(kind corev1.PodConditionType, since metav1.Time) corev1.PodCondition {
	return corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: since}
}
