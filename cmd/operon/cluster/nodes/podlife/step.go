package podlife

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// World is what a node knows of a pod that the pod object does not say.
type World struct {
	// HostIP is the node's address.
	HostIP string
	// PodIP is the address set aside for the pod. A pod that has an address keeps it, and a pod on the host's network has the node's.
	PodIP string
	// Seen is the moment the node first saw the pod, from which StartAfter counts; the pod's start time when zero.
	Seen time.Time
	// StartAfter is how long a pod takes from being seen to its first container's start.
	StartAfter time.Duration
	// RunFor is how long a container runs that is not meant to run forever.
	RunFor time.Duration
	// Started returns the exact start of the container with this ID, which the status keeps to the second only. May be nil.
	Started func(containerID string) (time.Time, bool)
	// MissingVolumes are volumes that cannot be mounted, each with the reason. They keep all containers from starting.
	MissingVolumes []string
	// MissingConfig says by container name which of them cannot be configured, and why.
	MissingConfig map[string]string
	// Refused says why the node does not take the pod at all; nil for a pod that it takes.
	Refused *Refusal
}

// Refusal is why a node does not take a pod.
type Refusal struct{ Reason, Message string }

// Step is where a pod should be now and what comes next.
type Step struct {
	// Status is the whole status the pod should have. Of conditions that others own it holds what the pod holds.
	Status corev1.PodStatus
	// Events happened in this step, in order.
	Events []Event
	// Started holds the exact start of the containers that this step started, by container ID.
	Started map[string]time.Time
	// Wake is when something happens next without anybody's doing; zero for never.
	Wake time.Time
	// Ended says that the pod was asked to go and that no process of it is left, so that it may be deleted for good.
	Ended bool
	// Problems are annotations that could not be understood and were taken as absent.
	Problems []string
}

// Event is something that a kubelet would tell about a pod.
type Event struct {
	Type, Reason, Message string
	// FieldPath is the part of the pod it is about, "spec.containers{web}" for example; empty for the pod as a whole.
	FieldPath string
}

// Next returns where pod should be at the time now. The pod must be bound to a node.
func Next(pod *corev1.Pod, w World, now time.Time) Step {
	s := &step{pod: pod, world: w, now: now, plan: newPodPlan(pod, w), status: pod.Status.DeepCopy()}
	s.run()
	s.Step.Status = *s.status
	s.Step.Problems = s.plan.problems
	return s.Step
}

// step is a Step under construction.
type step struct {
	Step
	pod    *corev1.Pod
	world  World
	now    time.Time
	plan   *podPlan
	status *corev1.PodStatus
}

func (s *step) run() {
	deleted := s.pod.DeletionTimestamp != nil
	if terminal(s.status.Phase) {
		s.Ended = deleted
		return
	}
	if deleted {
		s.acknowledge()
		if stop := s.stopTime(); s.now.Before(stop) {
			s.wakeAt(stop)
			s.conditions()
			return
		}
		s.kill()
		s.conditions()
		s.Ended = true
		return
	}
	if refused := s.world.Refused; refused != nil {
		s.acknowledge()
		s.event(corev1.EventTypeWarning, refused.Reason, refused.Message, "")
		s.status.Phase = corev1.PodFailed
		s.status.Reason, s.status.Message = refused.Reason, "Pod was rejected: "+refused.Message
		s.conditions()
		return
	}
	if s.deadlineExceeded() {
		s.acknowledge()
		s.kill()
		s.status.Phase = corev1.PodFailed
		s.status.Reason = "DeadlineExceeded"
		s.status.Message = "Pod was active on the node longer than the specified deadline"
		s.conditions()
		return
	}
	s.acknowledge()
	held := s.held()
	s.containers(!held)
	s.conditions()
}

func terminal(p corev1.PodPhase) bool { return p == corev1.PodSucceeded || p == corev1.PodFailed }

// acknowledge fills in what a node says of every pod it has accepted.
func (s *step) acknowledge() {
	st := s.status
	st.ObservedGeneration = s.pod.Generation
	if st.StartTime == nil {
		t := metav1.NewTime(s.now)
		st.StartTime = &t
	}
	if st.HostIP != s.world.HostIP {
		st.HostIP = s.world.HostIP
		st.HostIPs = []corev1.HostIP{{IP: s.world.HostIP}}
	}
	if st.Phase == "" {
		st.Phase = corev1.PodPending
	}
	// What was asked for in a resize is given at once: a simulated node has it.
	if r := s.pod.Spec.Resources; r != nil {
		st.AllocatedResources = r.Requests.DeepCopy()
		st.Resources = &corev1.ResourceRequirements{Requests: r.Requests.DeepCopy(), Limits: r.Limits.DeepCopy()}
	}
}

// address gives the pod its address, which it has from the moment its sandbox exists.
func (s *step) address() {
	if s.status.PodIP != "" {
		return
	}
	ip := s.world.PodIP
	if s.pod.Spec.HostNetwork {
		ip = s.world.HostIP
	}
	if ip != "" {
		s.status.PodIP = ip
		s.status.PodIPs = []corev1.PodIP{{IP: ip}}
	}
}

// held says whether the pod's containers may not start yet.
func (s *step) held() bool {
	if len(s.world.MissingVolumes) > 0 && !s.sandbox() {
		for _, text := range s.world.MissingVolumes {
			s.event(corev1.EventTypeWarning, "FailedMount", text, "")
		}
		return true
	}
	seen := s.world.Seen
	if seen.IsZero() {
		seen = s.status.StartTime.Time
	}
	if start := seen.Add(s.plan.startAfter); !s.sandbox() && s.now.Before(start) {
		s.wakeAt(start)
		return true
	}
	return false
}

// sandbox says whether the pod's sandbox exists.
func (s *step) sandbox() bool { return s.status.PodIP != "" }

func (s *step) deadlineExceeded() bool {
	limit := s.pod.Spec.ActiveDeadlineSeconds
	if limit == nil || s.status.StartTime == nil {
		if limit != nil {
			s.wakeAt(s.now.Add(time.Duration(*limit) * time.Second))
		}
		return false
	}
	deadline := s.status.StartTime.Add(time.Duration(*limit) * time.Second)
	if s.now.Before(deadline) {
		s.wakeAt(deadline)
		return false
	}
	return true
}

// stopTime is when the last process of a pod that was asked to go has ended.
func (s *step) stopTime() time.Time {
	var grace time.Duration
	if g := s.pod.DeletionGracePeriodSeconds; g != nil {
		grace = time.Duration(*g) * time.Second
	}
	end := s.pod.DeletionTimestamp.Time // the request's time plus the grace period
	if s.plan.stopNever || s.plan.stopAfter >= grace {
		return end
	}
	return end.Add(s.plan.stopAfter - grace)
}

// killedCode is what the simulated programs exit with when they are told to stop: servers end cleanly, programs that were
// meant to finish did not.
func (s *step) killedCode() int32 {
	switch {
	case s.plan.stopNever:
		return 137
	case s.pod.Spec.RestartPolicy == corev1.RestartPolicyAlways:
		return 0
	default:
		return 143
	}
}

// kill ends all containers and puts the pod in its last phase.
func (s *step) kill() {
	st := s.status
	failed := false
	for _, list := range []struct {
		path     string
		statuses []corev1.ContainerStatus
	}{{"spec.containers", st.ContainerStatuses}, {"spec.ephemeralContainers", st.EphemeralContainerStatuses}, {"spec.initContainers", st.InitContainerStatuses}} {
		for i := range list.statuses {
			cs := &list.statuses[i]
			if cs.State.Running != nil {
				s.stop(cs, list.path, s.killedCode())
			}
			if list.path != "spec.ephemeralContainers" && !succeeded(cs) {
				failed = true
			}
		}
	}
	st.Phase = corev1.PodSucceeded
	if failed || len(st.ContainerStatuses) == 0 {
		st.Phase = corev1.PodFailed
	}
}

func succeeded(cs *corev1.ContainerStatus) bool {
	return cs.State.Terminated != nil && cs.State.Terminated.ExitCode == 0
}

func (s *step) wakeAt(t time.Time) {
	if s.Wake.IsZero() || t.Before(s.Wake) {
		s.Wake = t
	}
}

func (s *step) event(eventType, reason, message, fieldPath string) {
	s.Events = append(s.Events, Event{Type: eventType, Reason: reason, Message: message, FieldPath: fieldPath})
}
