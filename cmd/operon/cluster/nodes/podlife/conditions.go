package podlife

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// conditions derives the conditions that a node owns from the container statuses and the phase.
func (s *step) conditions() {
	ended := terminal(s.status.Phase)
	if s.find(corev1.PodScheduled) == nil { // a pod that was created on its node has seen no scheduler
		s.condition(corev1.PodScheduled, true, "", "")
	}
	s.condition(corev1.PodReadyToStartContainers, s.sandbox() && !ended, "", "")

	var incomplete []string
	if !s.everStarted() {
		for i := range s.pod.Spec.InitContainers {
			c := &s.pod.Spec.InitContainers[i]
			cs := find(s.status.InitContainerStatuses, c.Name)
			if cs == nil || isSidecar(c) && cs.State.Running == nil && cs.State.Terminated == nil || !isSidecar(c) && !succeeded(cs) {
				incomplete = append(incomplete, c.Name)
			}
		}
	}
	switch {
	case s.status.Phase == corev1.PodSucceeded:
		s.condition(corev1.PodInitialized, true, "PodCompleted", "")
	case len(incomplete) > 0:
		s.condition(corev1.PodInitialized, false, "ContainersNotInitialized", fmt.Sprintf("containers with incomplete status: %s", incomplete))
	default:
		s.condition(corev1.PodInitialized, true, "", "")
	}

	reason, message := s.unready()
	s.condition(corev1.ContainersReady, reason == "", reason, message)
	if reason == "" {
		reason, message = s.closedGates()
	}
	s.condition(corev1.PodReady, reason == "", reason, message)
}

// unready says why not all containers are ready; no reason means that they are.
func (s *step) unready() (reason, message string) {
	switch s.status.Phase {
	case corev1.PodSucceeded:
		return "PodCompleted", ""
	case corev1.PodFailed:
		return "PodFailed", ""
	}
	var names []string
	for i := range s.pod.Spec.InitContainers {
		c := &s.pod.Spec.InitContainers[i]
		if cs := find(s.status.InitContainerStatuses, c.Name); isSidecar(c) && (cs == nil || !cs.Ready) {
			names = append(names, c.Name)
		}
	}
	for i := range s.pod.Spec.Containers {
		name := s.pod.Spec.Containers[i].Name
		if cs := find(s.status.ContainerStatuses, name); cs == nil || !cs.Ready {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "", ""
	}
	return "ContainersNotReady", fmt.Sprintf("containers with unready status: %s", names)
}

// closedGates says which readiness gates keep a pod whose containers are ready from being ready.
func (s *step) closedGates() (reason, message string) {
	var texts []string
	for _, gate := range s.pod.Spec.ReadinessGates {
		switch c := s.find(gate.ConditionType); {
		case c == nil:
			texts = append(texts, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.", gate.ConditionType))
		case c.Status != corev1.ConditionTrue:
			texts = append(texts, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %s", gate.ConditionType, c.Status))
		}
	}
	if len(texts) == 0 {
		return "", ""
	}
	return "ReadinessGatesNotReady", strings.Join(texts, ", ")
}

func (s *step) condition(t corev1.PodConditionType, is bool, reason, message string) {
	status := corev1.ConditionFalse
	if is {
		status = corev1.ConditionTrue
	}
	c := s.find(t)
	if c == nil {
		s.status.Conditions = append(s.status.Conditions, corev1.PodCondition{Type: t})
		c = &s.status.Conditions[len(s.status.Conditions)-1]
	}
	if c.Status != status {
		c.Status = status
		c.LastTransitionTime = metav1.NewTime(s.now)
	}
	c.Reason, c.Message, c.ObservedGeneration = reason, message, s.pod.Generation
}

func (s *step) find(t corev1.PodConditionType) *corev1.PodCondition {
	for i := range s.status.Conditions {
		if s.status.Conditions[i].Type == t {
			return &s.status.Conditions[i]
		}
	}
	return nil
}

func find(list []corev1.ContainerStatus, name string) *corev1.ContainerStatus {
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	return nil
}
