package controllers

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/klog/v2"
)

const (
	orphanPeriod = 20 * time.Second
	podGCManager = "PodGC"
)

// orphanedPods deletes the pods that no kubelet will ever end: those bound to a node that is gone, and those deleted before they were bound.
// It stands in for kube-controller-manager's pod garbage collector, which would link a large part of the kubelet into this binary
// for one function, and leaves out its limit on the number of finished pods (12500 by default).
func orphanedPods(_ context.Context, env *environment) (run, error) {
	core := env.informers.Core().V1()
	o := &orphans{client: env.client, pods: core.Pods().Lister(), nodes: core.Nodes().Lister()}
	// The informers of listers exist only when asked for.
	core.Pods().Informer()
	core.Nodes().Informer()
	return o.run, nil
}

type orphans struct {
	client kubernetes.Interface
	pods   corelisters.PodLister
	nodes  corelisters.NodeLister
}

func (o *orphans) run(ctx context.Context) {
	ticker := time.NewTicker(orphanPeriod)
	defer ticker.Stop()
	missing := map[string]bool{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			missing = o.round(ctx, missing)
		}
	}
}

// round deletes the orphans of nodes that were missing in the last round already, and returns those that are missing now.
func (o *orphans) round(ctx context.Context, before map[string]bool) map[string]bool {
	missing := map[string]bool{}
	pods, err := o.pods.List(labels.Everything())
	if err != nil {
		return before
	}
	for _, pod := range pods {
		node := pod.Spec.NodeName
		switch {
		case node == "" && pod.DeletionTimestamp != nil:
			o.remove(ctx, pod)
		case node == "":
		case o.gone(ctx, node, missing):
			missing[node] = true
			if before[node] {
				o.fail(ctx, pod)
				o.remove(ctx, pod)
			}
		}
	}
	return missing
}

// gone asks the server where the lister does not know the node, because the lister may be behind.
func (o *orphans) gone(ctx context.Context, node string, known map[string]bool) bool {
	if known[node] {
		return true
	}
	if _, err := o.nodes.Get(node); err == nil {
		return false
	}
	_, err := o.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
	return apierrors.IsNotFound(err)
}

func (o *orphans) fail(ctx context.Context, pod *corev1.Pod) {
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return
	}
	now := metav1.Now()
	status := applycorev1.PodStatus().WithPhase(corev1.PodFailed).WithConditions(applycorev1.PodCondition().
		WithType(corev1.DisruptionTarget).WithStatus(corev1.ConditionTrue).WithReason("DeletionByPodGC").
		WithMessage("PodGC: node no longer exists").WithLastTransitionTime(now))
	apply := applycorev1.Pod(pod.Name, pod.Namespace).WithUID(pod.UID).WithStatus(status)
	if _, err := o.client.CoreV1().Pods(pod.Namespace).ApplyStatus(ctx, apply, metav1.ApplyOptions{FieldManager: podGCManager, Force: true}); err != nil && !apierrors.IsNotFound(err) {
		klog.FromContext(ctx).Error(err, "orphaned pod not marked as failed", "pod", klog.KObj(pod))
	}
}

func (o *orphans) remove(ctx context.Context, pod *corev1.Pod) {
	err := o.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{
		GracePeriodSeconds: new(int64),
		Preconditions:      metav1.NewUIDPreconditions(string(pod.UID)),
	})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		klog.FromContext(ctx).Error(err, "orphaned pod not deleted", "pod", klog.KObj(pod))
	}
}
