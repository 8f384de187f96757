package controller

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

func sized(size int32) *cachev1alpha1.Memcached {
	return &cachev1alpha1.Memcached{
		ObjectMeta: metav1.ObjectMeta{Name: "cache", UID: "cache-uid", Generation: 4},
		Spec:       cachev1alpha1.MemcachedSpec{Size: size},
	}
}

func deploymentOf(memcached *cachev1alpha1.Memcached, status appsv1.DeploymentStatus) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{UID: "deployment-uid", Generation: 2, OwnerReferences: []metav1.OwnerReference{
			{UID: memcached.UID, Controller: ptr.To(true)},
		}},
		Status: status,
	}
}

func TestConditionsFollowTheDeployment(t *testing.T) {
	full := appsv1.DeploymentStatus{ObservedGeneration: 2, Replicas: 3, UpdatedReplicas: 3, ReadyReplicas: 3, AvailableReplicas: 3}
	with := func(change func(*appsv1.DeploymentStatus)) *appsv1.Deployment {
		status := full
		change(&status)
		return deploymentOf(sized(3), status)
	}
	foreign := deploymentOf(&cachev1alpha1.Memcached{ObjectMeta: metav1.ObjectMeta{UID: "other"}}, full)
	for _, test := range []struct {
		name       string
		deployment *appsv1.Deployment
		err        error
		want       string // Available, Progressing, Degraded
	}{
		{"nothing there yet", &appsv1.Deployment{}, nil, "False True False"},
		{"somebody else's Deployment", foreign, nil, "False True False"},
		{"as asked for", deploymentOf(sized(3), full), nil, "True False False"},
		{"one short", with(func(s *appsv1.DeploymentStatus) { s.AvailableReplicas = 2 }), nil, "False True False"},
		{"one too many", with(func(s *appsv1.DeploymentStatus) { s.Replicas, s.AvailableReplicas = 4, 4 }), nil, "True True False"},
		{"being updated", with(func(s *appsv1.DeploymentStatus) { s.UpdatedReplicas = 1 }), nil, "True True False"},
		{"status of an earlier spec", with(func(s *appsv1.DeploymentStatus) { s.ObservedGeneration = 1 }), nil, "True True False"},
		{"a failed write", deploymentOf(sized(3), full), errors.New("no"), "True False True"},
		{"pods that can't be created", with(func(s *appsv1.DeploymentStatus) {
			s.AvailableReplicas = 0
			s.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate"}}
		}), nil, "False True True"},
		{"no progress in time", with(func(s *appsv1.DeploymentStatus) {
			s.AvailableReplicas = 0
			s.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded"}}
		}), nil, "False True True"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status := statusOf(sized(3), test.deployment, nil, test.err)
			got := map[string]metav1.ConditionStatus{}
			for _, c := range status.Conditions {
				got[c.Type] = c.Status
				if c.ObservedGeneration != 4 || c.Reason == "" {
					t.Errorf("%s is of generation %d with reason %q, want generation 4 and a reason", c.Type, c.ObservedGeneration, c.Reason)
				}
			}
			if got := string(got["Available"] + " " + got["Progressing"] + " " + got["Degraded"]); got != test.want {
				t.Errorf("Available, Progressing, Degraded: %s, want %s", got, test.want)
			}
		})
	}
}

func TestAnUnchangedConditionKeepsItsTime(t *testing.T) {
	memcached := sized(3)
	deployment := deploymentOf(memcached, appsv1.DeploymentStatus{})
	memcached.Status = statusOf(memcached, deployment, nil, nil)
	long := metav1.Unix(1, 0)
	for i := range memcached.Status.Conditions {
		memcached.Status.Conditions[i].LastTransitionTime = long
	}
	if diff := cmp.Diff(memcached.Status, statusOf(memcached, deployment, nil, nil)); diff != "" {
		t.Errorf("the same findings make another status:\n%s", diff)
	}
	failed := statusOf(memcached, deployment, nil, errors.New("no"))
	if memcached.Status.Conditions[2].Status != metav1.ConditionFalse || failed.Conditions[2].LastTransitionTime == long {
		t.Error("a condition that changes keeps its time, or the old status was written into")
	}
}

func TestNodesArePodsThatStayByName(t *testing.T) {
	named := func(name string, change func(*corev1.Pod)) corev1.Pod {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}}
		change(&pod)
		return pod
	}
	got := nodeNames([]corev1.Pod{
		named("c", func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }),
		named("leaving", func(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.Now()) }),
		named("evicted", func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }),
		named("over", func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded }),
		named("a", func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }),
		named("b", func(*corev1.Pod) {}),
	})
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestPodsLeadToTheirMemcached(t *testing.T) {
	for _, test := range []struct {
		name   string
		labels map[string]string
		want   int
	}{
		{"a node", map[string]string{labelName: appName, labelInstance: "cache"}, 1},
		{"another application", map[string]string{labelName: "redis", labelInstance: "cache"}, 0},
		{"no instance", map[string]string{labelName: appName}, 0},
		{"no labels", nil, 0},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "pod", Labels: test.labels}}
		requests := memcachedOfPod(t.Context(), pod)
		if len(requests) != test.want {
			t.Errorf("%s: %v, want %d requests", test.name, requests, test.want)
		}
		if len(requests) == 1 && requests[0].String() != "ns/cache" {
			t.Errorf("%s: %v, want ns/cache", test.name, requests[0])
		}
	}
}
