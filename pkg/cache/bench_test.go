package cache

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/pkg/client"
)

const (
	benchPods   = 10000
	benchOwners = 100
)

// benchPod makes a pod as a cluster has them: two containers, a service account token, probes, conditions, managed
// fields.
func benchPod(i int) *corev1.Pod {
	app := i % benchOwners
	yes, one := true, int64(30)
	probe := &corev1.Probe{
		ProbeHandler:     corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080), Scheme: corev1.URISchemeHTTP}},
		TimeoutSeconds:   1,
		PeriodSeconds:    10,
		SuccessThreshold: 1,
		FailureThreshold: 3,
	}
	now := metav1.NewTime(time.Unix(1700000000+int64(i), 0))
	condition := func(t corev1.PodConditionType) corev1.PodCondition {
		return corev1.PodCondition{Type: t, Status: corev1.ConditionTrue, LastTransitionTime: now}
	}
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: fmt.Sprintf("registry.example.com/team/app-%d/%s:v1.2.3", app, name), ImagePullPolicy: corev1.PullIfNotPresent,
			Env: []corev1.EnvVar{
				{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.name"}}},
				{Name: "LOG_LEVEL", Value: "info"}, {Name: "UPSTREAM", Value: "http://upstream.default.svc.cluster.local:8080"},
			},
			Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080, Protocol: corev1.ProtocolTCP}},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": quantity.MustParse("100m"), "memory": quantity.MustParse("128Mi")},
				Limits:   corev1.ResourceList{"memory": quantity.MustParse("256Mi")},
			},
			VolumeMounts: []corev1.VolumeMount{
				{Name: "config", MountPath: "/etc/app"},
				{Name: "kube-api-access-x7z2p", ReadOnly: true, MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"},
			},
			LivenessProbe: probe, ReadinessProbe: probe, TerminationMessagePath: "/dev/termination-log",
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
		}
	}
	status := func(name string) corev1.ContainerStatus {
		return corev1.ContainerStatus{
			Name: name, Ready: true, Started: &yes, Image: fmt.Sprintf("registry.example.com/team/app-%d/%s:v1.2.3", app, name),
			ImageID:     fmt.Sprintf("registry.example.com/team/app-%d/%s@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", app, name),
			ContainerID: fmt.Sprintf("containerd://%064d", i), State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		}
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("app-%d-7d9c6b5f4-%05d", app, i), GenerateName: fmt.Sprintf("app-%d-7d9c6b5f4-", app), Namespace: fmt.Sprintf("team-%d", app%10),
			UID: types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", i)), ResourceVersion: strconv.Itoa(1000 + i), CreationTimestamp: now,
			Labels: map[string]string{
				"app.kubernetes.io/name": fmt.Sprintf("app-%d", app), "app.kubernetes.io/part-of": "platform", "pod-template-hash": fmt.Sprintf("7d9c6b5f%d", app), "tier": "backend",
			},
			Annotations: map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "8080", "checksum/config": fmt.Sprintf("%064d", app)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "ReplicaSet", Name: fmt.Sprintf("app-%d-7d9c6b5f4", app), UID: types.UID(fmt.Sprintf("owner-%d", app)), Controller: &yes, BlockOwnerDeletion: &yes,
			}},
			ManagedFields: []metav1.ManagedFieldsEntry{
				{Manager: "kube-controller-manager", Operation: "Update", APIVersion: "v1", Time: &now, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:` + strings.Repeat("x", 2200) + `":{}}`)},
				{Manager: "kubelet", Operation: "Update", APIVersion: "v1", Time: &now, FieldsType: "FieldsV1", Subresource: "status", FieldsV1: metav1.NewFieldsV1(`{"f:` + strings.Repeat("x", 1400) + `":{}}`)},
			},
		},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{container("app"), container("sidecar")}, NodeName: fmt.Sprintf("node-%d", i%50), ServiceAccountName: "default",
			DeprecatedServiceAccount: "default", RestartPolicy: corev1.RestartPolicyAlways, DNSPolicy: corev1.DNSClusterFirst, SchedulerName: "default-scheduler",
			TerminationGracePeriodSeconds: &one, SecurityContext: &corev1.PodSecurityContext{}, EnableServiceLinks: &yes,
			Tolerations: []corev1.Toleration{
				{Key: "node.kubernetes.io/not-ready", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &one},
				{Key: "node.kubernetes.io/unreachable", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: &one},
			},
			Volumes: []corev1.Volume{
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprintf("app-%d", app)}}}},
				{Name: "kube-api-access-x7z2p", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}}}},
				}}}},
			},
		},
		Status: corev1.PodStatus{
			Phase: corev1.PodRunning, HostIP: fmt.Sprintf("10.0.0.%d", i%50), PodIP: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), StartTime: &now, QOSClass: corev1.PodQOSBurstable,
			PodIPs:     []corev1.PodIP{{IP: fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255)}},
			HostIPs:    []corev1.HostIP{{IP: fmt.Sprintf("10.0.0.%d", i%50)}},
			Conditions: []corev1.PodCondition{condition(corev1.PodReady), condition(corev1.PodInitialized), condition(corev1.ContainersReady), condition(corev1.PodScheduled)},
			ContainerStatuses: []corev1.ContainerStatus{
				status("app"), status("sidecar"),
			},
		},
	}
}

// podStore is a started cache whose store of pods has been filled as a feed fills it: with objects decoded from protobuf.
func podStore(tb testing.TB, n int) *stores {
	tb.Helper()
	return filledPods(tb, n, Options{})
}

func filledPods(tb testing.TB, n int, opts Options) *stores {
	tb.Helper()
	opts.Scheme, opts.Mapper = testScheme(), testMapper()
	c, err := newStores(opts, nil)
	if err != nil {
		tb.Fatal(err)
	}
	c.crew.started.open()
	p, f, err := c.placeOf(&corev1.Pod{})
	if err != nil {
		tb.Fatal(err)
	}
	s, _, err := c.claim(p, f, toHandle)
	if err != nil {
		tb.Fatal(err)
	}
	list := make([]any, n)
	for i := range list {
		raw, err := benchPod(i).Marshal()
		if err != nil {
			tb.Fatal(err)
		}
		pod := &corev1.Pod{}
		if err := pod.Unmarshal(raw); err != nil {
			tb.Fatal(err)
		}
		list[i] = pod
	}
	sink := &sink{feed: s.feeds()[0], plan: s.currentPlan()}
	if err := sink.Replace(list, "100000"); err != nil {
		tb.Fatal(err)
	}
	return c
}

func BenchmarkGet(b *testing.B) {
	c := podStore(b, benchPods)
	pod := benchPod(5000)
	key := client.ObjectKeyFromObject(pod)
	ctx := context.Background()
	b.Run("copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var out corev1.Pod
			if err := c.Get(ctx, key, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("lend", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Lend[*corev1.Pod](ctx, c, key); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkListOnePercent(b *testing.B) {
	c := podStore(b, benchPods)
	ctx := context.Background()
	for name, opt := range map[string]client.ListOption{
		"label": client.MatchingLabels{"app.kubernetes.io/name": "app-7"},
		"owner": OwnedBy("owner-7"),
	} {
		b.Run(name+"/copy", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var l corev1.PodList
				if err := c.List(ctx, &l, opt); err != nil || len(l.Items) != benchPods/benchOwners {
					b.Fatal(len(l.Items), err)
				}
			}
		})
		b.Run(name+"/lend", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				all, err := All[*corev1.Pod](ctx, c, opt)
				if err != nil {
					b.Fatal(err)
				}
				for range all {
					n++
				}
				if n != benchPods/benchOwners {
					b.Fatal(n)
				}
			}
		})
	}
	b.Run("two labels in a namespace/lend", func(b *testing.B) {
		b.ReportAllocs()
		sel := client.MatchingLabelsSelector{Selector: labels.SelectorFromSet(labels.Set{"tier": "backend", "pod-template-hash": "7d9c6b5f7"})}
		for b.Loop() {
			if _, err := All[*corev1.Pod](ctx, c, sel, client.InNamespace("team-7")); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkUpdate(b *testing.B) {
	c := podStore(b, benchPods)
	s := c.all()[0]
	p := s.currentPlan()
	base := benchPod(7)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		pod := base.DeepCopy()
		pod.ResourceVersion = strconv.Itoa(200000 + i)
		e, err := p.entry(pod, nil)
		if err != nil {
			b.Fatal(err)
		}
		s.watched(s.feeds()[0], e)
	}
}

// BenchmarkMemory reports the heap that a cached pod takes, with everything the store keeps about it.
func BenchmarkMemory(b *testing.B) {
	for name, opts := range map[string]Options{"decoded": {}, "compact": {DefaultCompact: ptr.To(true)}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				before := heap()
				c := filledPods(b, benchPods, opts)
				used := heap() - before
				b.ReportMetric(float64(used)/benchPods, "bytes/pod")
				runtime.KeepAlive(c)
			}
		})
	}
}

// BenchmarkCompact is what BenchmarkGet and BenchmarkListOnePercent are for objects that are held compact.
func BenchmarkCompact(b *testing.B) {
	c := filledPods(b, benchPods, Options{DefaultCompact: ptr.To(true)})
	key := client.ObjectKeyFromObject(benchPod(5000))
	ctx := context.Background()
	b.Run("get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var out corev1.Pod
			if err := c.Get(ctx, key, &out); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var l corev1.PodList
			if err := c.List(ctx, &l, OwnedBy("owner-7")); err != nil || len(l.Items) != benchPods/benchOwners {
				b.Fatal(len(l.Items), err)
			}
		}
	})
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// controller-runtime's #1235: reads that copy what nobody is going to change.
func TestGettingALoanAllocatesNothing(t *testing.T) {
	c := podStore(t, 10)
	key := client.ObjectKeyFromObject(benchPod(3))
	if n := testing.AllocsPerRun(100, func() {
		if _, err := Lend[*corev1.Pod](t.Context(), c, key); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkFill measures how a list of pods, decoded already, gets into a store.
func BenchmarkFill(b *testing.B) {
	const pods = 2000
	decoded := make([]corev1.Pod, pods)
	for i := range decoded {
		raw, err := benchPod(i).Marshal()
		if err != nil {
			b.Fatal(err)
		}
		if err := decoded[i].Unmarshal(raw); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		list := make([]any, pods)
		for i := range list {
			list[i] = decoded[i].DeepCopy()
		}
		c := podStore(b, 0)
		s := c.all()[0]
		b.StartTimer()
		if err := (&sink{feed: s.feeds()[0], plan: s.currentPlan()}).Replace(list, "100000"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/pods, "ns/pod")
}
