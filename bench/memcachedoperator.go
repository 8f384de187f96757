package main

// This file holds the operator of Memcacheds that both libraries run, said once for both, and what it counts.

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

// memcachedRun is one operator's life, from the first Memcached to the last that has converged.
type memcachedRun struct {
	pods bool // a Memcached has not converged before its pods are ready

	reconciles, calls, conflicts, stale atomic.Int64

	mu      sync.Mutex
	written map[string]int64 // the greatest version of an object that this operator's own writes have returned
}

// countingTransport counts what is not a watch.
type countingTransport struct {
	next http.RoundTripper
	run  *memcachedRun
}

// RoundTrip implements http.RoundTripper.
func (t countingTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(r)
	if r.URL.Query().Get("watch") == "" {
		t.run.calls.Add(1)
		if err == nil && response.StatusCode == http.StatusConflict {
			t.run.conflicts.Add(1)
		}
	}
	return response, err
}

// reconcile is the operator that both libraries run. It reports whether the Memcached has converged.
func (m *memcachedRun) reconcile(ctx context.Context, o objects, key types.NamespacedName) (bool, error) {
	memcached := &v1alpha1.Memcached{}
	if err := m.read(ctx, o, key, "Memcached", memcached); err != nil {
		return false, ignoreNotFound(err)
	}
	owned := metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}
	deployment := &appsv1.Deployment{ObjectMeta: owned}
	if err := m.ensure(ctx, o, memcached, "Deployment", deployment, func() { fillDeployment(deployment, memcached) }); err != nil {
		return false, err
	}
	service := &corev1.Service{ObjectMeta: owned}
	if err := m.ensure(ctx, o, memcached, "Service", service, func() { fillService(service, memcached) }); err != nil {
		return false, err
	}
	status := v1alpha1.MemcachedStatus{
		Replicas: deployment.Status.Replicas, ReadyReplicas: deployment.Status.ReadyReplicas, Conditions: slices.Clone(memcached.Status.Conditions),
	}
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionProgressing, Status: metav1.ConditionTrue, Reason: "RollingOut", ObservedGeneration: memcached.Generation,
		Message: fmt.Sprintf("%d of %d nodes are ready", status.ReadyReplicas, memcached.Spec.Size),
	})
	done := !m.pods || status.ReadyReplicas == memcached.Spec.Size
	if equality.Semantic.DeepEqual(memcached.Status, status) {
		return done, nil
	}
	memcached.Status = status
	if err := o.updateStatus(ctx, memcached); err != nil {
		return false, err
	}
	m.wrote("Memcached", memcached)
	return done, nil
}

// read gets an object from the cache and counts what is behind this operator's own writes.
func (m *memcachedRun) read(ctx context.Context, o objects, key types.NamespacedName, kind string, into object) error {
	m.mu.Lock()
	least := m.written[kind+"/"+key.String()]
	m.mu.Unlock()
	err := o.get(ctx, key, into)
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if least > 0 && (err != nil || versionOf(into) < least) {
		m.stale.Add(1)
	}
	return err
}

func (m *memcachedRun) wrote(kind string, obj object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := kind + "/" + obj.GetNamespace() + "/" + obj.GetName()
	m.written[key] = max(m.written[key], versionOf(obj))
}

// versionOf returns 0 for an object that has none. The versions of one resource compare as integers.
func versionOf(obj object) int64 {
	version, err := strconv.ParseInt(obj.GetResourceVersion(), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// ensure creates obj, or updates it where fill changes it.
func (m *memcachedRun) ensure(ctx context.Context, o objects, owner *v1alpha1.Memcached, kind string, obj object, fill func()) error {
	err := m.read(ctx, o, types.NamespacedName{Namespace: obj.GetNamespace(), Name: obj.GetName()}, kind, obj)
	missing := apierrors.IsNotFound(err)
	if err != nil && !missing {
		return err
	}
	before := obj.DeepCopyObject()
	fill()
	obj.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(owner, v1alpha1.GroupVersion.WithKind("Memcached"))})
	switch {
	case missing:
		err = o.create(ctx, obj)
	case equality.Semantic.DeepEqual(before, obj):
		return nil
	default:
		err = o.update(ctx, obj)
	}
	if err != nil {
		return err
	}
	m.wrote(kind, obj)
	return nil
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func memcachedLabels(memcached *v1alpha1.Memcached) map[string]string {
	return map[string]string{"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": memcached.Name}
}

func fillDeployment(deployment *appsv1.Deployment, memcached *v1alpha1.Memcached) {
	labels := memcachedLabels(memcached)
	deployment.Labels = labels
	deployment.Spec.Replicas = ptr.To(memcached.Spec.Size)
	deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	template := &deployment.Spec.Template
	template.Labels = labels
	if len(template.Spec.Containers) == 0 {
		template.Spec.Containers = []corev1.Container{{Name: "memcached"}}
	}
	container := &template.Spec.Containers[0]
	container.Image = memcached.Spec.Image
	container.Ports = []corev1.ContainerPort{{Name: "memcached", ContainerPort: 11211, Protocol: corev1.ProtocolTCP}}
}

func fillService(service *corev1.Service, memcached *v1alpha1.Memcached) {
	service.Labels = memcachedLabels(memcached)
	service.Spec.ClusterIP = corev1.ClusterIPNone
	service.Spec.Selector = memcachedLabels(memcached)
	service.Spec.Ports = []corev1.ServicePort{{Name: "memcached", Port: 11211, TargetPort: intstr.FromString("memcached"), Protocol: corev1.ProtocolTCP}}
}
