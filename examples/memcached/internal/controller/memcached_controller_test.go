package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"

	ctrl "github.com/operon-dev/operon"
	"github.com/operon-dev/operon/pkg/client"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

func TestMemcachedGetsADeploymentAndAService(t *testing.T) {
	p := newPlace(t)
	memcached := p.create("cache", 2)
	deployment, service := p.awaitChildren("cache", 2)

	for _, child := range []client.Object{deployment, service} {
		if !metav1.IsControlledBy(child, memcached) {
			t.Errorf("%T: owners %v, want the Memcached as controller", child, child.GetOwnerReferences())
		}
	}
	container := deployment.Spec.Template.Spec.Containers[0]
	if container.Image != "memcached:1.6-alpine" || container.Ports[0].ContainerPort != 11211 {
		t.Errorf("the Deployment runs %s on port %v", container.Image, container.Ports)
	}
	if service.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("the Service has the address %s, want none", service.Spec.ClusterIP)
	}
	if diff := cmp.Diff(deployment.Spec.Template.Labels, service.Spec.Selector); diff != "" {
		t.Errorf("the Service selects other labels (+) than the pods have (-):\n%s", diff)
	}
	p.await("events", func() string {
		var list eventsv1.EventList
		p.must(p.List(t.Context(), &list, client.InNamespace(p.namespace)))
		var notes []string
		for _, e := range list.Items {
			if e.Regarding.UID == memcached.UID {
				notes = append(notes, e.Note)
			}
		}
		slices.Sort(notes)
		return cmp.Diff([]string{"Created Deployment cache", "Created Service cache"}, notes)
	})
}

func TestSizeIsFollowedUpAndDown(t *testing.T) {
	p := newPlace(t)
	memcached := p.create("cache", 1)
	p.awaitChildren("cache", 1)
	p.awaitNodes(memcached, 1)

	for _, size := range []int32{4, 0, 2} {
		scale := &autoscalingv1.Scale{ObjectMeta: p.meta("cache"), Spec: autoscalingv1.ScaleSpec{Replicas: size}}
		p.must(p.SubResource("scale").Update(t.Context(), memcached, client.WithSubResourceBody(scale)))
		p.awaitChildren("cache", size)
		p.awaitNodes(memcached, int(size))
	}
}

func TestStatusTellsWhatThereIs(t *testing.T) {
	p := newPlace(t)
	memcached := p.create("cache", 3)
	p.await("a settled status", func() string {
		p.get(memcached)
		want := map[string]metav1.ConditionStatus{"Available": "True", "Progressing": "False", "Degraded": "False"}
		got := map[string]metav1.ConditionStatus{}
		for _, c := range memcached.Status.Conditions {
			if c.ObservedGeneration == memcached.Generation {
				got[c.Type] = c.Status
			}
		}
		return cmp.Diff(want, got)
	})
	p.awaitNodes(memcached, 3)
	if memcached.Status.ReadyReplicas != 3 {
		t.Errorf("%d nodes are ready, want 3", memcached.Status.ReadyReplicas)
	}

	scale := &autoscalingv1.Scale{}
	p.must(p.SubResource("scale").Get(t.Context(), memcached, scale))
	want := autoscalingv1.ScaleStatus{Replicas: 3, Selector: "app.kubernetes.io/instance=cache,app.kubernetes.io/name=memcached"}
	if diff := cmp.Diff(want, scale.Status); diff != "" {
		t.Errorf("status of the scale subresource: want (-), got (+):\n%s", diff)
	}
}

func TestNodesNameThePodThatReplacesADeletedOne(t *testing.T) {
	p := newPlace(t)
	memcached := p.create("cache", 2)
	p.awaitNodes(memcached, 2)
	victim := memcached.Status.Nodes[0]
	p.must(p.Delete(t.Context(), &corev1.Pod{ObjectMeta: p.meta(victim)}))
	p.await("the replacement", func() string {
		p.get(memcached)
		if slices.Contains(memcached.Status.Nodes, victim) {
			return "status.nodes still names the deleted pod"
		}
		return ""
	})
	p.awaitNodes(memcached, 2)
}

func TestDriftIsRepaired(t *testing.T) {
	for name, damage := range map[string]func(*place, *appsv1.Deployment, *corev1.Service) error{
		"Deployment deleted": func(p *place, d *appsv1.Deployment, _ *corev1.Service) error {
			return p.Delete(p.Context(), d)
		},
		"Service deleted": func(p *place, _ *appsv1.Deployment, s *corev1.Service) error {
			return p.Delete(p.Context(), s)
		},
		"replicas": func(p *place, d *appsv1.Deployment, _ *corev1.Service) error {
			d.Spec.Replicas = ptr.To[int32](7)
			return p.overwrite(d)
		},
		"image": func(p *place, d *appsv1.Deployment, _ *corev1.Service) error {
			d.Spec.Template.Spec.Containers[0].Image = "redis"
			return p.overwrite(d)
		},
		"port of the container": func(p *place, d *appsv1.Deployment, _ *corev1.Service) error {
			d.Spec.Template.Spec.Containers[0].Ports = nil
			return p.overwrite(d)
		},
		"labels of the Deployment": func(p *place, d *appsv1.Deployment, _ *corev1.Service) error {
			d.Labels = nil
			return p.overwrite(d)
		},
		"owner of the Deployment": func(p *place, d *appsv1.Deployment, _ *corev1.Service) error {
			d.OwnerReferences = nil
			return p.overwrite(d)
		},
		"selector of the Service": func(p *place, _ *appsv1.Deployment, s *corev1.Service) error {
			s.Spec.Selector = map[string]string{"app": "other"}
			return p.overwrite(s)
		},
		"port of the Service": func(p *place, _ *appsv1.Deployment, s *corev1.Service) error {
			s.Spec.Ports[0].Port = 80
			return p.overwrite(s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			memcached := p.create("cache", 1)
			deployment, service := p.awaitChildren("cache", 1)
			p.must(damage(p, deployment, service))
			p.await("the repair", func() string {
				d, s := p.deployment("cache"), p.service("cache")
				if missing := p.get(d) + p.get(s); missing != "" {
					return missing
				}
				if !metav1.IsControlledBy(d, memcached) || !metav1.IsControlledBy(s, memcached) {
					return "the owner reference is missing"
				}
				wantD, wantS := d.DeepCopy(), s.DeepCopy()
				setDeployment(wantD, memcached)
				setService(wantS, memcached)
				return cmp.Diff(wantD, d) + cmp.Diff(wantS, s)
			})
		})
	}
}

func TestTamperedStatusIsRepaired(t *testing.T) {
	p := newPlace(t)
	memcached := p.create("cache", 1)
	p.awaitNodes(memcached, 1)
	p.must(p.Status().Patch(t.Context(), memcached, client.RawPatch(types.MergePatchType, []byte(`{"status":{"nodes":["made-up"]}}`))))
	p.awaitNodes(memcached, 1)
}

func TestWhatOthersAddStays(t *testing.T) {
	p := newPlace(t)
	memcached := p.create("cache", 1)
	deployment, _ := p.awaitChildren("cache", 1)
	p.await("an addition", func() string {
		p.get(deployment)
		metav1.SetMetaDataAnnotation(&deployment.ObjectMeta, "example.com/note", "mine")
		metav1.SetMetaDataLabel(&deployment.ObjectMeta, "team", "blue")
		deployment.Spec.Template.Spec.Containers = append(deployment.Spec.Template.Spec.Containers, corev1.Container{Name: "exporter", Image: "exporter"})
		if err := p.Update(t.Context(), deployment); err != nil {
			return err.Error()
		}
		return ""
	})
	p.must(p.Patch(t.Context(), memcached, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":2}}`))))
	deployment, _ = p.awaitChildren("cache", 2)
	if deployment.Annotations["example.com/note"] != "mine" || deployment.Labels["team"] != "blue" || len(deployment.Spec.Template.Spec.Containers) != 2 {
		t.Errorf("annotations %v, labels %v, %d containers: an addition is lost",
			deployment.Annotations, deployment.Labels, len(deployment.Spec.Template.Spec.Containers))
	}
}

func TestDeletionTakesEverythingAway(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		t.Run(string(policy), func(t *testing.T) {
			p := newPlace(t)
			memcached := p.create("cache", 2)
			p.awaitChildren("cache", 2)
			p.awaitNodes(memcached, 2)
			p.must(p.Delete(t.Context(), memcached, client.PropagationPolicy(policy)))
			p.await("the collection", func() string {
				var left []string
				for _, list := range []client.ObjectList{
					&cachev1alpha1.MemcachedList{}, &appsv1.DeploymentList{}, &appsv1.ReplicaSetList{}, &corev1.ServiceList{}, &corev1.PodList{},
				} {
					p.must(p.List(t.Context(), list, client.InNamespace(p.namespace)))
					if n := meta.LenList(list); n > 0 {
						left = append(left, fmt.Sprintf("%d in %T", n, list))
					}
				}
				return strings.Join(left, ", ")
			})
		})
	}
}

func TestSomebodyElsesDeploymentIsNotTakenOver(t *testing.T) {
	p := newPlace(t)
	owner := &corev1.ConfigMap{ObjectMeta: p.meta("owner")}
	p.must(p.Create(t.Context(), owner))
	foreign := p.deployment("cache")
	setDeployment(foreign, &cachev1alpha1.Memcached{ObjectMeta: p.meta("other"), Spec: cachev1alpha1.MemcachedSpec{Image: "other"}})
	foreign.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, Controller: ptr.To(true)}}
	p.must(p.Create(t.Context(), foreign))

	memcached := p.create("cache", 1)
	degraded := func() *metav1.Condition {
		p.get(memcached)
		return meta.FindStatusCondition(memcached.Status.Conditions, cachev1alpha1.ConditionDegraded)
	}
	p.await("Degraded", func() string {
		c := degraded()
		if c == nil || c.Status != metav1.ConditionTrue || !strings.Contains(c.Message, "Deployment "+p.namespace+"/cache") {
			return fmt.Sprintf("the condition is %v", c)
		}
		return ""
	})
	p.get(foreign)
	if *foreign.Spec.Replicas != 0 || foreign.Spec.Template.Spec.Containers[0].Image != "other" {
		t.Error("somebody else's Deployment was changed")
	}

	p.must(p.Delete(t.Context(), foreign))
	p.awaitChildren("cache", 1)
	p.await("the recovery", func() string {
		if c := degraded(); c == nil || c.Status != metav1.ConditionFalse {
			return fmt.Sprintf("the condition is %v", c)
		}
		return ""
	})
}

func TestWrongSpecsAreRefused(t *testing.T) {
	p := newPlace(t)
	for name, test := range map[string]struct {
		memcached cachev1alpha1.Memcached
		want      string
	}{
		"negative size":              {cachev1alpha1.Memcached{ObjectMeta: p.meta("a"), Spec: cachev1alpha1.MemcachedSpec{Size: -1}}, "spec.size"},
		"excessive size":             {cachev1alpha1.Memcached{ObjectMeta: p.meta("a"), Spec: cachev1alpha1.MemcachedSpec{Size: 101}}, "spec.size"},
		"name no Service can have":   {cachev1alpha1.Memcached{ObjectMeta: p.meta("1a")}, "the name is also the name of a Service"},
		"name no label can have":     {cachev1alpha1.Memcached{ObjectMeta: p.meta("a" + strings.Repeat("b", 63))}, "the name is also the name of a Service"},
		"name with dots in the path": {cachev1alpha1.Memcached{ObjectMeta: p.meta("a.b")}, "the name is also the name of a Service"},
	} {
		err := p.Create(t.Context(), &test.memcached)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want it to be invalid because of %q", name, err, test.want)
		}
	}
}

// writes counts the writing requests of a client.
type writes struct {
	client.Client
	made []string
}

func (w *writes) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	w.made = append(w.made, fmt.Sprintf("create %T", obj))
	return w.Client.Create(ctx, obj, opts...)
}

func (w *writes) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	w.made = append(w.made, fmt.Sprintf("update %T", obj))
	return w.Client.Update(ctx, obj, opts...)
}

func (w *writes) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	w.made = append(w.made, fmt.Sprintf("patch %T", obj))
	return w.Client.Patch(ctx, obj, patch, opts...)
}

func (w *writes) Status() client.SubResourceWriter {
	w.made = append(w.made, "status")
	return w.Client.Status()
}

func TestReconcileOfASettledMemcachedWritesNothing(t *testing.T) {
	p := newPlace(t)
	memcached := p.create("cache", 2)
	p.awaitChildren("cache", 2)
	p.awaitNodes(memcached, 2)
	counting := &writes{Client: p.underTest.Client}
	reconciler := &MemcachedReconciler{Client: counting, Scheme: p.scheme, Recorder: events.NewFakeRecorder(10)}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(memcached)}
	// While the pods come up there is something to report; a reconcile that always wrote would never pass.
	p.await("a reconcile without a write", func() string {
		counting.made = nil
		if _, err := reconciler.Reconcile(t.Context(), request); err != nil {
			return err.Error()
		}
		return strings.Join(counting.made, ", ")
	})
}
