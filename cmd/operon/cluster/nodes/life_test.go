package nodes_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func bare(notes map[string]string) *corev1.Pod {
	t := template(notes)
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Annotations: notes}, Spec: t.Spec}
}

func (c *cluster) create(t *testing.T, ns string, pod *corev1.Pod) {
	t.Helper()
	if _, err := c.CoreV1().Pods(ns).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// awaitPod waits until pod p is as wanted and returns it.
func (c *cluster) awaitPod(t *testing.T, ns, what string, is func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	var pod *corev1.Pod
	c.await(t, ns, what, func(ctx context.Context) (bool, string) {
		var err error
		if pod, err = c.CoreV1().Pods(ns).Get(ctx, "p", metav1.GetOptions{}); err != nil {
			return false, err.Error()
		}
		return is(pod), fmt.Sprintf("%+v", pod.Status)
	})
	return pod
}

func isReady(p *corev1.Pod) bool { return phases([]corev1.Pod{*p}) == "RUNNING" }

func (c *cluster) awaitGone(t *testing.T, ns string) {
	t.Helper()
	c.await(t, ns, "pod p is gone", func(ctx context.Context) (bool, string) {
		pod, err := c.CoreV1().Pods(ns).Get(ctx, "p", metav1.GetOptions{})
		return apierrors.IsNotFound(err), fmt.Sprintf("%+v", pod)
	})
}

func TestPodIsReadyAfterOneStatusWrite(t *testing.T) {
	c, ns := start(t)
	w, err := c.CoreV1().Pods(ns).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	c.create(t, ns, bare(nil))
	states := 0
	for e := range w.ResultChan() {
		p := e.Object.(*corev1.Pod)
		if states++; isReady(p) {
			if states != 3 { // created, bound, ready
				t.Errorf("ready in state %d", states)
			}
			if p.Status.HostIP == "" || p.Status.PodIP == "" || p.Status.StartTime == nil || p.Status.QOSClass != corev1.PodQOSBestEffort || p.Status.ObservedGeneration != p.Generation {
				t.Errorf("%+v", p.Status)
			}
			return
		}
	}
	t.Fatal("the watch ended before the pod was ready")
}

func TestEventsAreTold(t *testing.T) {
	c, ns := start(t)
	c.create(t, ns, bare(map[string]string{"sim.operon.dev/exit-code": "many"}))
	c.await(t, ns, "the events of a start", func(ctx context.Context) (bool, string) {
		list, err := c.CoreV1().Events(ns).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=p"})
		if err != nil {
			return false, err.Error()
		}
		var reasons []string
		for _, e := range list.Items {
			reasons = append(reasons, e.Reason)
		}
		all := strings.Join(reasons, " ")
		for _, want := range []string{"Pulled", "Created", "Started", "InvalidSimulation"} {
			if !strings.Contains(all, want) {
				return false, all
			}
		}
		return true, all
	})
}

func TestGraceIsTakenWhenAskedFor(t *testing.T) {
	c, ns := start(t)
	c.create(t, ns, bare(map[string]string{"sim.operon.dev/stop-after": "never"}))
	c.awaitPod(t, ns, "ready", isReady)
	began := time.Now()
	if err := c.CoreV1().Pods(ns).Delete(t.Context(), "p", metav1.DeleteOptions{GracePeriodSeconds: new(int64(2))}); err != nil {
		t.Fatal(err)
	}
	c.awaitPod(t, ns, "still running while terminating", func(p *corev1.Pod) bool { return p.DeletionTimestamp != nil && isReady(p) })
	c.awaitGone(t, ns)
	if took := time.Since(began); took < time.Second || took > 20*time.Second {
		t.Errorf("took %s of a grace period of 2s", took)
	}
}

func TestDeletedPodIsGoneAtOnce(t *testing.T) {
	c, ns := start(t)
	c.create(t, ns, bare(nil))
	c.awaitPod(t, ns, "ready", isReady)
	began := time.Now()
	if err := c.CoreV1().Pods(ns).Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitGone(t, ns)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
}

func TestFinalizerKeepsAPodThatHasEnded(t *testing.T) {
	c, ns := start(t)
	pod := bare(nil)
	pod.Finalizers = []string{"example.com/hold"}
	c.create(t, ns, pod)
	c.awaitPod(t, ns, "ready", isReady)
	if err := c.CoreV1().Pods(ns).Delete(t.Context(), "p", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitPod(t, ns, "ended and still there", func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded && p.DeletionGracePeriodSeconds != nil && *p.DeletionGracePeriodSeconds == 0
	})
	if _, err := c.CoreV1().Pods(ns).Patch(t.Context(), "p", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitGone(t, ns)
}

func TestInitContainersAndSidecars(t *testing.T) {
	c, ns := start(t)
	pod := bare(map[string]string{"sim.operon.dev/run-duration.migrate": "300ms"})
	always := corev1.ContainerRestartPolicyAlways
	pod.Spec.InitContainers = []corev1.Container{{Name: "proxy", Image: "proxy:1", RestartPolicy: &always}, {Name: "migrate", Image: "migrate:1"}}
	c.create(t, ns, pod)
	c.awaitPod(t, ns, "initializing", func(p *corev1.Pod) bool {
		s := p.Status.InitContainerStatuses
		return p.Status.Phase == corev1.PodPending && len(s) == 2 && s[0].State.Running != nil && s[1].State.Running != nil
	})
	c.awaitPod(t, ns, "ready", func(p *corev1.Pod) bool {
		s := p.Status.InitContainerStatuses
		return isReady(p) && s[0].State.Running != nil && s[1].State.Terminated != nil
	})
}

func TestReadinessGateOfAnother(t *testing.T) {
	c, ns := start(t)
	pod := bare(nil)
	pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
	c.create(t, ns, pod)
	c.awaitPod(t, ns, "running", func(p *corev1.Pod) bool { return p.Status.Phase == corev1.PodRunning && !isReady(p) })
	patch := `{"status":{"conditions":[{"type":"example.com/lb","status":"True"}]}}`
	if _, err := c.CoreV1().Pods(ns).Patch(t.Context(), "p", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status"); err != nil {
		t.Fatal(err)
	}
	c.awaitPod(t, ns, "ready", isReady)
}

func TestPodWaitsForItsConfigMap(t *testing.T) {
	c, ns := start(t)
	pod := bare(nil)
	pod.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "late"}}}}
	c.create(t, ns, pod)
	c.awaitPod(t, ns, "waiting", func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses
		return len(s) == 1 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == "CreateContainerConfigError"
	})
	if _, err := c.CoreV1().ConfigMaps(ns).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.awaitPod(t, ns, "ready", isReady)
}

func TestCrashLoop(t *testing.T) {
	c, ns := start(t)
	c.create(t, ns, bare(map[string]string{"sim.operon.dev/exit-code": "1", "sim.operon.dev/run-duration": "0s"}))
	c.awaitPod(t, ns, "crash loop", func(p *corev1.Pod) bool {
		s := p.Status.ContainerStatuses
		return len(s) == 1 && s[0].RestartCount == 1 && s[0].State.Waiting != nil && s[0].State.Waiting.Reason == "CrashLoopBackOff" && s[0].LastTerminationState.Terminated.ExitCode == 1
	})
}

func TestEphemeralContainerRuns(t *testing.T) {
	c, ns := start(t)
	c.create(t, ns, bare(nil))
	c.awaitPod(t, ns, "ready", isReady)
	patch := `{"spec":{"ephemeralContainers":[{"name":"debug","image":"busybox"}]}}`
	if _, err := c.CoreV1().Pods(ns).Patch(t.Context(), "p", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "ephemeralcontainers"); err != nil {
		t.Fatal(err)
	}
	c.awaitPod(t, ns, "debug container running", func(p *corev1.Pod) bool {
		s := p.Status.EphemeralContainerStatuses
		return len(s) == 1 && s[0].State.Running != nil
	})
}

func TestResizeIsReflected(t *testing.T) {
	c, ns := start(t)
	pod := bare(nil)
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: capacity("100m")}
	c.create(t, ns, pod)
	c.awaitPod(t, ns, "ready", isReady)
	patch := `{"spec":{"containers":[{"name":"web","resources":{"requests":{"cpu":"200m"}}}]}}`
	if _, err := c.CoreV1().Pods(ns).Patch(t.Context(), "p", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "resize"); err != nil {
		t.Fatal(err)
	}
	c.awaitPod(t, ns, "resized", func(p *corev1.Pod) bool {
		cpu := p.Status.ContainerStatuses[0].AllocatedResources[corev1.ResourceCPU]
		return cpu.MilliValue() == 200 && p.Status.ContainerStatuses[0].RestartCount == 0
	})
}
