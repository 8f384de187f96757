package leader

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/fake"
	"github.com/operon-dev/operon/pkg/client/interceptor"
	"github.com/operon-dev/operon/pkg/envtest"
)

const (
	atMost = 30 * time.Second
	lock   = "operator-lock"
)

// candidates is a namespace with pods that want to lead.
type candidates struct {
	client.Client
	namespace string
}

func newCandidates(t *testing.T, c client.Client) *candidates {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "leader-"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	return &candidates{c, ns.Name}
}

// pod makes a pod, on a node if one is named; otherwise no scheduler finds one for it.
func (c *candidates) pod(t *testing.T, name, node string) *corev1.Pod {
	t.Helper()
	none := int64(0)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, SchedulerName: "nobody", TerminationGracePeriodSeconds: &none,
			Containers: []corev1.Container{{Name: "operator", Image: "operator"}},
		},
	}
	if err := c.Create(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
	return pod
}

func (c *candidates) become(ctx context.Context, pod string) error {
	return Become(ctx, lock, WithClient(c.Client), WithNamespace(c.namespace), WithPodName(pod), WithMaxBackoffInterval(20*time.Millisecond))
}

// leads has a pod become the leader at once.
func (c *candidates) leads(t *testing.T, pod string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), atMost)
	defer cancel()
	if err := c.become(ctx, pod); err != nil {
		t.Fatal(err)
	}
	var held corev1.ConfigMap
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: lock}, &held); err != nil {
		t.Fatal(err)
	}
	if owner, ok := podOf(&held); !ok || owner.Name != pod {
		t.Fatalf("%s is told that it leads, and the lock is of %v", pod, held.OwnerReferences)
	}
}

// waits has a pod try to become the leader for a while, in vain.
func (c *candidates) waits(t *testing.T, pod string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := c.become(ctx, pod); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("%s: %v, want it to wait until its time is over", pod, err)
	}
}

// ends sets the status of a pod that has ended.
func (c *candidates) ends(t *testing.T, pod *corev1.Pod, reason string) {
	t.Helper()
	pod.Status.Phase, pod.Status.Reason = corev1.PodFailed, reason
	if err := c.Status().Update(t.Context(), pod); err != nil {
		t.Fatal(err)
	}
}

// TestLeadingForLife runs on the real control plane, with its garbage collector.
func TestLeadingForLife(t *testing.T) {
	if os.Getenv("OPERON") == "" {
		t.Skip("OPERON, the path of the operon command, is not set: make build, then export OPERON=<checkout>/bin/operon")
	}
	env := &envtest.Environment{Controllers: true}
	config, err := env.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := env.Stop(); err != nil {
			t.Error(err)
		}
	}()
	api, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]func(*testing.T, *candidates){
		"the others wait while the leader lives, and one leads when its pod is deleted": func(t *testing.T, c *candidates) {
			first := c.pod(t, "first", "")
			c.pod(t, "second", "")
			c.leads(t, "first")
			c.waits(t, "second")
			if err := c.Delete(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			c.leads(t, "second")
		},
		"the garbage collector deletes the lock with its pod": func(t *testing.T, c *candidates) {
			first := c.pod(t, "first", "")
			c.leads(t, "first")
			if err := c.Delete(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(atMost); ; time.Sleep(10 * time.Millisecond) {
				err := c.Get(t.Context(), client.ObjectKey{Namespace: c.namespace, Name: lock}, &corev1.ConfigMap{})
				if apierrors.IsNotFound(err) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("the lock is still there: %v", err)
				}
			}
		},
		"a leader whose container restarts still leads": func(t *testing.T, c *candidates) {
			c.pod(t, "first", "")
			c.leads(t, "first")
			c.leads(t, "first")
		},
		"a pod of the leader's name is not the leader": func(t *testing.T, c *candidates) {
			first := c.pod(t, "first", "")
			c.leads(t, "first")
			if err := c.Delete(t.Context(), first); err != nil {
				t.Fatal(err)
			}
			c.pod(t, "first", "")
			c.leads(t, "first")
		},
		"takes over from an evicted pod": func(t *testing.T, c *candidates) {
			first := c.pod(t, "first", "")
			c.pod(t, "second", "")
			c.leads(t, "first")
			c.ends(t, first, "Evicted")
			c.leads(t, "second")
		},
		"takes over from a preempted pod": func(t *testing.T, c *candidates) {
			first := c.pod(t, "first", "")
			c.pod(t, "second", "")
			c.leads(t, "first")
			c.ends(t, first, "Preempting")
			c.leads(t, "second")
		},
		"takes over from a node that is gone": func(t *testing.T, c *candidates) {
			c.pod(t, "first", "node-that-was-"+c.namespace)
			c.pod(t, "second", "")
			c.leads(t, "first")
			c.leads(t, "second")
		},
		"takes over from a node that is out of service, and from no other": func(t *testing.T, c *candidates) {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-of-" + c.namespace}}
			if err := c.Create(t.Context(), node); err != nil {
				t.Fatal(err)
			}
			c.pod(t, "first", node.Name)
			c.pod(t, "second", "")
			c.leads(t, "first")
			// Nobody keeps this node's lease: it may not be ready, but it is not gone.
			c.waits(t, "second")
			before := node.DeepCopy()
			node.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Value: "nodeshutdown", Effect: corev1.TaintEffectNoExecute}}
			if err := c.Patch(t.Context(), node, client.MergeFrom(before)); err != nil {
				t.Fatal(err)
			}
			c.leads(t, "second")
		},
		"of many candidates one leads at a time": func(t *testing.T, c *candidates) {
			names := []string{"a", "b", "c", "d", "e"}
			pods := map[string]*corev1.Pod{}
			for _, name := range names {
				pods[name] = c.pod(t, name, "")
			}
			ctx, cancel := context.WithTimeout(t.Context(), atMost)
			defer cancel()
			elected := make(chan string)
			for _, name := range names {
				go func() {
					if err := c.become(ctx, name); err != nil {
						t.Errorf("%s: %v", name, err)
					}
					elected <- name
				}()
			}
			for range names {
				leader := <-elected
				select {
				case other := <-elected:
					t.Fatalf("%s and %s lead", leader, other)
				case <-time.After(100 * time.Millisecond):
				}
				c.ends(t, pods[leader], "Evicted")
			}
		},
		"a ConfigMap that is no lock is left alone": func(t *testing.T, c *candidates) {
			c.pod(t, "first", "")
			other := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: lock}}
			if err := c.Create(t.Context(), other); err != nil {
				t.Fatal(err)
			}
			if err := c.become(t.Context(), "first"); !errors.Is(err, errForeign) {
				t.Errorf("err = %v", err)
			}
		},
		"a pod that does not exist cannot lead": func(t *testing.T, c *candidates) {
			if err := c.become(t.Context(), "nobody"); !apierrors.IsNotFound(err) {
				t.Errorf("err = %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) { test(t, newCandidates(t, api)) })
	}
}

func TestWhereThereIsNoCluster(t *testing.T) {
	if _, err := os.Stat(namespaceFile); err == nil {
		t.Skip("this is a pod of a cluster")
	}
	t.Setenv(podNameVariable, "")
	if err := Become(t.Context(), lock); err != nil {
		t.Errorf("outside of a cluster: %v", err)
	}
	if err := Become(t.Context(), lock, WithNamespace("default")); err == nil || !strings.Contains(err.Error(), podNameVariable) {
		t.Errorf("without a pod's name: %v", err)
	}
	t.Setenv(podNameVariable, "operator-0")
	if err := Become(t.Context(), lock); !errors.Is(err, ErrNoNamespace) {
		t.Errorf("a pod without a namespace: %v", err)
	}
	if err := Become(t.Context(), lock, WithMaxBackoffInterval(-1)); err == nil {
		t.Error("a negative interval is taken")
	}
}

func TestALockThatCannotGoYetIsNotAskedForWithoutPause(t *testing.T) {
	held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: lock, Finalizers: []string{"example.com/hold"},
		OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "gone", UID: "1"}},
	}}
	attempts := 0
	c := fake.NewClientBuilder().WithObjects(held, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "2"}}).
		WithInterceptorFuncs(interceptor.Funcs{
			Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
				attempts++
				return c.Create(ctx, obj, opts...)
			},
		}).Build()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err := Become(ctx, lock, WithClient(c), WithNamespace("ns"), WithPodName("a"), WithMaxBackoffInterval(time.Minute))
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got the error %v, want one that wraps the context's", err)
	}
	if attempts > 2 {
		t.Errorf("%d attempts in 300 ms", attempts)
	}
}
