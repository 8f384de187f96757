package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// containers takes every container as far as it gets and finds the phase that follows.
func (s *step) containers(mayStart bool) {
	if mayStart {
		s.address()
	}
	spec, st := &s.pod.Spec, s.status
	wasInitialized := s.everStarted()

	inits := s.carried(spec.InitContainers, st.InitContainerStatuses)
	initialized, initFailed := mayStart, false
	for i := range spec.InitContainers {
		c, cs := &spec.InitContainers[i], &inits[i]
		if isSidecar(c) {
			s.advance(cs, c, s.plan.container(sidecar, c), initialized || wasInitialized)
			initialized = initialized && cs.State.Running != nil
			continue
		}
		if !wasInitialized {
			p := s.plan.container(plainInit, c)
			s.advance(cs, c, p, initialized)
			if t := cs.State.Terminated; t != nil && t.ExitCode != 0 {
				initFailed = true
			}
		}
		initialized = initialized && succeeded(cs)
	}
	initialized = initialized || wasInitialized

	mains := s.carried(spec.Containers, st.ContainerStatuses)
	running, waiting, done, failed := 0, 0, 0, 0
	for i := range spec.Containers {
		c, cs := &spec.Containers[i], &mains[i]
		s.advance(cs, c, s.plan.container(ordinary, c), initialized && !initFailed)
		switch {
		case cs.State.Running != nil:
			running++
		case cs.State.Terminated != nil:
			done++
			if cs.State.Terminated.ExitCode != 0 {
				failed++
			}
		case cs.LastTerminationState.Terminated != nil:
			running++ // between two runs
		default:
			waiting++
		}
	}
	st.InitContainerStatuses, st.ContainerStatuses = inits, mains
	s.ephemerals()

	switch {
	case initFailed:
		s.end(corev1.PodFailed)
	case done == len(mains) && failed > 0:
		s.end(corev1.PodFailed)
	case done == len(mains):
		s.end(corev1.PodSucceeded)
	case waiting > 0:
		st.Phase = corev1.PodPending
	default:
		st.Phase = corev1.PodRunning
	}
}

// end puts the pod in its last phase, where nothing of it runs any more.
func (s *step) end(phase corev1.PodPhase) {
	st := s.status
	st.Phase = phase
	for i := len(st.InitContainerStatuses) - 1; i >= 0; i-- { // sidecars end in the reverse of the order they started in
		if cs := &st.InitContainerStatuses[i]; cs.State.Running != nil {
			s.stop(cs, "spec.initContainers", 0)
		}
	}
	for i := range st.EphemeralContainerStatuses {
		if cs := &st.EphemeralContainerStatuses[i]; cs.State.Running != nil {
			s.stop(cs, "spec.ephemeralContainers", s.killedCode())
		}
	}
	s.Wake = time.Time{}
}

func (s *step) ephemerals() {
	list := s.pod.Spec.EphemeralContainers
	if len(list) == 0 || !s.sandbox() {
		return
	}
	specs := make([]corev1.Container, len(list))
	for i := range list {
		specs[i] = corev1.Container(list[i].EphemeralContainerCommon)
	}
	statuses := s.carried(specs, s.status.EphemeralContainerStatuses)
	for i := range specs {
		s.advance(&statuses[i], &specs[i], s.plan.container(ephemeral, &specs[i]), true)
	}
	s.status.EphemeralContainerStatuses = statuses
}

// carried returns one status for each container in the order of the spec: the one it had, or a new one.
func (s *step) carried(specs []corev1.Container, had []corev1.ContainerStatus) []corev1.ContainerStatus {
	if len(specs) == 0 {
		return nil
	}
	out := make([]corev1.ContainerStatus, len(specs))
	for i := range specs {
		out[i] = corev1.ContainerStatus{Name: specs[i].Name, Image: specs[i].Image}
		for j := range had {
			if had[j].Name == specs[i].Name {
				out[i] = had[j]
				break
			}
		}
	}
	return out
}

// everStarted says whether an ordinary container ever ran, which is when a pod's initialization was over.
func (s *step) everStarted() bool {
	for i := range s.status.ContainerStatuses {
		cs := &s.status.ContainerStatuses[i]
		if cs.State.Running != nil || cs.State.Terminated != nil || cs.LastTerminationState.Terminated != nil {
			return true
		}
	}
	return false
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}
