package controller

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

// statusOf is the status that memcached should have, given what was seen: its Deployment, its pods, and the error that
// reconciling it ended with.
func statusOf(memcached *cachev1alpha1.Memcached, deployment *appsv1.Deployment, pods []corev1.Pod, reconcileErr error) cachev1alpha1.MemcachedStatus {
	if !metav1.IsControlledBy(deployment, memcached) {
		deployment = &appsv1.Deployment{} // somebody else's of the same name says nothing about these nodes
	}
	status := cachev1alpha1.MemcachedStatus{
		Nodes:         nodeNames(pods),
		Replicas:      deployment.Status.Replicas,
		ReadyReplicas: deployment.Status.ReadyReplicas,
		Selector:      labels.SelectorFromSet(selectorLabels(memcached)).String(),
		Conditions:    slices.Clone(memcached.Status.Conditions),
	}
	for _, condition := range []metav1.Condition{
		availableCondition(memcached.Spec.Size, deployment),
		progressingCondition(memcached.Spec.Size, deployment),
		degradedCondition(deployment, reconcileErr),
	} {
		condition.ObservedGeneration = memcached.Generation
		meta.SetStatusCondition(&status.Conditions, condition)
	}
	return status
}

// nodeNames are the names of the pods that run or are about to, sorted.
func nodeNames(pods []corev1.Pod) []string {
	var names []string
	for i := range pods {
		pod := &pods[i]
		ended := pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
		if pod.DeletionTimestamp.IsZero() && !ended {
			names = append(names, pod.Name)
		}
	}
	slices.Sort(names)
	return names
}

func availableCondition(size int32, deployment *appsv1.Deployment) metav1.Condition {
	available := deployment.Status.AvailableReplicas
	condition := metav1.Condition{
		Type:    cachev1alpha1.ConditionAvailable,
		Status:  metav1.ConditionTrue,
		Reason:  "NodesAvailable",
		Message: fmt.Sprintf("%d of %d nodes are available", min(available, size), size),
	}
	if available < size {
		condition.Status, condition.Reason = metav1.ConditionFalse, "NodesUnavailable"
	}
	return condition
}

func progressingCondition(size int32, deployment *appsv1.Deployment) metav1.Condition {
	seen := deployment.Status
	rolledOut := deployment.UID != "" && seen.ObservedGeneration >= deployment.Generation &&
		seen.Replicas == size && seen.UpdatedReplicas == size && seen.AvailableReplicas == size
	if rolledOut {
		return metav1.Condition{
			Type: cachev1alpha1.ConditionProgressing, Status: metav1.ConditionFalse, Reason: "RolledOut",
			Message: "the nodes are as the spec asks for",
		}
	}
	return metav1.Condition{
		Type: cachev1alpha1.ConditionProgressing, Status: metav1.ConditionTrue, Reason: "RollingOut",
		Message: fmt.Sprintf("%d nodes exist, %d of them up to date; %d are asked for", seen.Replicas, seen.UpdatedReplicas, size),
	}
}

func degradedCondition(deployment *appsv1.Deployment, reconcileErr error) metav1.Condition {
	degraded := func(reason, message string) metav1.Condition {
		return metav1.Condition{Type: cachev1alpha1.ConditionDegraded, Status: metav1.ConditionTrue, Reason: reason, Message: message}
	}
	if reconcileErr != nil {
		return degraded("ReconcileError", reconcileErr.Error())
	}
	for _, c := range deployment.Status.Conditions {
		switch {
		case c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue,
			c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse:
			return degraded(c.Reason, c.Message)
		}
	}
	return metav1.Condition{
		Type: cachev1alpha1.ConditionDegraded, Status: metav1.ConditionFalse, Reason: "AsExpected",
		Message: "nothing stands in the way",
	}
}
