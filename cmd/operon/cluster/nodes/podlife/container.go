package podlife

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	firstBackOff = 10 * time.Second
	maxBackOff   = 5 * time.Minute
	// A container that ran this long starts its back-off anew.
	forgiveness = 2 * maxBackOff
)

// advance takes the container as far as it gets by now. It starts only if it may.
func (s *step) advance(cs *corev1.ContainerStatus, c *corev1.Container, p plan, mayStart bool) {
	for {
		switch {
		case cs.State.Running != nil:
			if !s.ends(cs, p) {
				s.keepRunning(cs, p)
				return
			}
		case cs.State.Terminated != nil:
			if !p.restarts(cs.State.Terminated.ExitCode) {
				return
			}
			cs.LastTerminationState = cs.State
			cs.State = corev1.ContainerState{}
			cs.Ready = false
		default:
			if !s.start(cs, c, p, mayStart) {
				return
			}
		}
	}
}

// ends ends the container when its time has come.
func (s *step) ends(cs *corev1.ContainerStatus, p plan) bool {
	if !p.ends {
		return false
	}
	end := s.startOf(cs).Add(p.runFor)
	if s.now.Before(end) {
		s.wakeAt(end)
		return false
	}
	s.exit(cs, p.exitCode)
	cs.Ready = p.kind == plainInit && p.exitCode == 0
	return true
}

func (s *step) exit(cs *corev1.ContainerStatus, code int32) {
	reason := "Completed"
	if code != 0 {
		reason = "Error"
	}
	cs.State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode:    code,
		Reason:      reason,
		StartedAt:   cs.State.Running.StartedAt,
		FinishedAt:  metav1.NewTime(s.now),
		ContainerID: cs.ContainerID,
	}}
	cs.Ready = false
	cs.Started = new(bool)
}

func (s *step) stop(cs *corev1.ContainerStatus, path string, code int32) {
	s.exit(cs, code)
	s.event(corev1.EventTypeNormal, "Killing", "Stopping container "+cs.Name, path+"{"+cs.Name+"}")
}

func (s *step) startOf(cs *corev1.ContainerStatus) time.Time {
	if t, ok := s.Started[cs.ContainerID]; ok {
		return t
	}
	if s.world.Started != nil {
		if t, ok := s.world.Started(cs.ContainerID); ok {
			return t
		}
	}
	return cs.State.Running.StartedAt.Time
}

func (s *step) keepRunning(cs *corev1.ContainerStatus, p plan) {
	started := true
	cs.Started = &started
	cs.Ready = false
	if p.kind == ordinary || p.kind == sidecar {
		readyAt := s.startOf(cs).Add(p.readyAfter)
		switch {
		case p.neverReady:
		case s.now.Before(readyAt):
			s.wakeAt(readyAt)
		default:
			cs.Ready = true
		}
	}
	cs.AllocatedResources = p.resources.Requests.DeepCopy()
	cs.Resources = nil
	if len(p.resources.Requests) > 0 || len(p.resources.Limits) > 0 {
		cs.Resources = &corev1.ResourceRequirements{Requests: p.resources.Requests.DeepCopy(), Limits: p.resources.Limits.DeepCopy()}
	}
}

// start starts the container, or says why it waits.
func (s *step) start(cs *corev1.ContainerStatus, c *corev1.Container, p plan, mayStart bool) bool {
	path := fieldPath(p.kind, c.Name)
	last := cs.LastTerminationState.Terminated
	if last != nil {
		delay := backOff(cs)
		if until := last.FinishedAt.Add(delay); s.now.Before(until) {
			s.wakeAt(until)
			pod := fmt.Sprintf("%s_%s(%s)", s.pod.Name, s.pod.Namespace, s.pod.UID)
			text := fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", delay, c.Name, pod)
			if s.wait(cs, "CrashLoopBackOff", text) {
				s.event(corev1.EventTypeWarning, "BackOff", fmt.Sprintf("Back-off restarting failed container %s in pod %s", c.Name, pod), path)
			}
			return false
		}
	} else if !mayStart {
		s.wait(cs, s.initialReason(), "")
		return false
	}
	if p.hold != "" {
		if s.wait(cs, p.hold, p.holdText) {
			s.event(corev1.EventTypeWarning, "Failed", "Error: "+p.holdText, path)
		}
		return false
	}
	if last != nil {
		cs.RestartCount++
	}
	cs.Image = c.Image
	cs.ImageID = imageID(c.Image)
	cs.ContainerID = containerID(s.pod.UID, c.Name, cs.RestartCount)
	cs.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(s.now)}}
	if s.Started == nil {
		s.Started = map[string]time.Time{}
	}
	s.Started[cs.ContainerID] = s.now
	s.event(corev1.EventTypeNormal, "Pulled", fmt.Sprintf("Container image %q already present on machine", c.Image), path)
	s.event(corev1.EventTypeNormal, "Created", "Container created", path)
	s.event(corev1.EventTypeNormal, "Started", "Container started", path)
	return true
}

// wait puts the container in the waiting state and says whether that is a change.
func (s *step) wait(cs *corev1.ContainerStatus, reason, message string) bool {
	if w := cs.State.Waiting; w != nil && w.Reason == reason && w.Message == message {
		return false
	}
	cs.State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
	cs.Ready = false
	cs.Started = new(bool)
	return true
}

func (s *step) initialReason() string {
	if len(s.pod.Spec.InitContainers) > 0 {
		return "PodInitializing"
	}
	return "ContainerCreating"
}

// backOff is how long a container waits after its last end: not at all the first time, then ten seconds, doubling to five minutes.
func backOff(cs *corev1.ContainerStatus) time.Duration {
	last := cs.LastTerminationState.Terminated
	if cs.RestartCount == 0 || last.FinishedAt.Sub(last.StartedAt.Time) >= forgiveness {
		return 0
	}
	d := firstBackOff
	for i := int32(1); i < cs.RestartCount && d < maxBackOff; i++ {
		d *= 2
	}
	return min(d, maxBackOff)
}

func fieldPath(k kind, name string) string {
	switch k {
	case plainInit, sidecar:
		return "spec.initContainers{" + name + "}"
	case ephemeral:
		return "spec.ephemeralContainers{" + name + "}"
	default:
		return "spec.containers{" + name + "}"
	}
}
