package podlife

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations on a pod that say what its simulated containers do. Each of them except [StopAfter] and [StartAfter] may be
// narrowed to one container, init and ephemeral containers included, by appending a dot and the container's name
// ("sim.operon.dev/exit-code.migrate"); without it, it speaks of the pod's ordinary containers only. Durations are written as in Go ("250ms",
// "2s", "1h30m"). They are read at every step, so annotating a running pod changes what it does.
const (
	// RunDuration is how long a container runs before it exits; "forever" for never. By default containers that are restarted whatever
	// happens run forever, init containers exit at once and all others after World.RunFor, unless their command line says otherwise.
	RunDuration = prefix + "run-duration"
	// ExitCode is the code, 0 to 255, a container exits with; 0 by default. On a container that would run forever it also
	// means that it exits after World.RunFor. It takes the place of the command line.
	ExitCode = prefix + "exit-code"
	// ReadyAfter is how long a container runs before its readiness probe passes; "never" for not at all. At once by default.
	ReadyAfter = prefix + "ready-after"
	// WaitingReason keeps a container that does not run yet from starting and is shown as the reason, "ImagePullBackOff" for example.
	WaitingReason = prefix + "waiting-reason"
	// StartAfter is how long the pod stays in ContainerCreating before its first container starts. World.StartAfter by default.
	StartAfter = prefix + "start-after"
	// StopAfter is how long the pod's containers take to end after SIGTERM; "never" for "until they are killed at the end of the
	// grace period", which ends any longer time too. At once by default. Counted in whole seconds.
	StopAfter = prefix + "stop-after"

	prefix = "sim.operon.dev/"
)

type kind int

const (
	ordinary kind = iota
	plainInit
	sidecar
	ephemeral
)

// plan is what one container is going to do.
type plan struct {
	kind       kind
	ends       bool
	runFor     time.Duration
	exitCode   int32
	readyAfter time.Duration
	neverReady bool
	hold       string // reason for not starting
	holdText   string
	resources  corev1.ResourceRequirements
	restarts   func(exitCode int32) bool
}

// podPlan holds what the pod's annotations say of the pod as a whole and finds what they say of its containers.
type podPlan struct {
	pod        *corev1.Pod
	world      World
	steered    bool
	startAfter time.Duration
	stopAfter  time.Duration
	stopNever  bool
	problems   []string
}

func newPodPlan(pod *corev1.Pod, w World) *podPlan {
	p := &podPlan{pod: pod, world: w, startAfter: w.StartAfter}
	for key := range pod.Annotations {
		if strings.HasPrefix(key, prefix) {
			p.steered = true
			p.checkName(key)
		}
	}
	if p.steered {
		if d, _, ok := p.duration(StartAfter, ""); ok {
			p.startAfter = d
		}
		if d, never, ok := p.duration(StopAfter, "never"); ok {
			p.stopAfter, p.stopNever = d, never
		}
	}
	return p
}

// container returns the plan of the container; policy is its own restart policy, if it has one.
func (p *podPlan) container(k kind, c *corev1.Container) plan {
	policy := p.pod.Spec.RestartPolicy
	if k == plainInit && policy == corev1.RestartPolicyAlways {
		policy = corev1.RestartPolicyOnFailure
	}
	if c.RestartPolicy != nil {
		policy = corev1.RestartPolicy(*c.RestartPolicy)
	}
	if k == ephemeral {
		policy = corev1.RestartPolicyNever
	}
	out := plan{kind: k, resources: c.Resources}
	switch {
	case k == plainInit:
		out.ends = true
	case k == ordinary && policy != corev1.RestartPolicyAlways:
		out.ends, out.runFor = true, p.world.RunFor
	}
	if known, ok := courseOf(c); ok && !p.saysExit(k, c.Name) {
		switch {
		case known.forever:
			out.ends = false
		case known.lasts > 0:
			out.ends, out.runFor = true, known.lasts
		case !out.ends:
			out.ends, out.runFor = true, p.world.RunFor
		}
		out.exitCode = known.exitCode
	}
	if probe := c.ReadinessProbe; probe != nil && probe.Exec != nil {
		known, ok := courseOf(&corev1.Container{Command: probe.Exec.Command})
		out.neverReady = ok && known.exitCode != 0
	}
	rules := c.RestartPolicyRules
	out.restarts = func(exitCode int32) bool {
		for _, r := range rules {
			if ruleMatches(r, exitCode) {
				return true
			}
		}
		return policy == corev1.RestartPolicyAlways || policy == corev1.RestartPolicyOnFailure && exitCode != 0
	}
	if text, missing := p.world.MissingConfig[c.Name]; missing {
		out.hold, out.holdText = "CreateContainerConfigError", text
	}
	if p.steered {
		p.steer(&out, c.Name)
	}
	return out
}

func ruleMatches(r corev1.ContainerRestartRule, exitCode int32) bool {
	if r.Action != corev1.ContainerRestartRuleActionRestart || r.ExitCodes == nil {
		return false
	}
	return slices.Contains(r.ExitCodes.Values, exitCode) == (r.ExitCodes.Operator == corev1.ContainerRestartRuleOnExitCodesOpIn)
}

// saysExit says whether an annotation takes the place of the container's command line.
func (p *podPlan) saysExit(k kind, name string) bool {
	_, ok := p.find(ExitCode, k, name)
	return ok
}

func (p *podPlan) steer(out *plan, name string) {
	if key, ok := p.find(ExitCode, out.kind, name); ok {
		code, err := strconv.ParseUint(p.pod.Annotations[key], 10, 8)
		if err != nil {
			p.problem(key, "is not an exit code between 0 and 255")
		} else {
			out.exitCode = int32(code)
			if !out.ends {
				out.ends, out.runFor = true, p.world.RunFor
			}
		}
	}
	if key, ok := p.find(RunDuration, out.kind, name); ok {
		if d, forever, ok := p.duration(key, "forever"); ok {
			out.ends, out.runFor = !forever, d
		}
	}
	if key, ok := p.find(ReadyAfter, out.kind, name); ok {
		if d, never, ok := p.duration(key, "never"); ok {
			out.readyAfter, out.neverReady = d, never
		}
	}
	if key, ok := p.find(WaitingReason, out.kind, name); ok {
		out.hold, out.holdText = p.pod.Annotations[key], "held back by the annotation "+key
		if out.hold == "" {
			p.problem(key, "is not a reason")
		}
	}
}

// find returns the annotation that speaks of the container, the one with its name before the one for all.
func (p *podPlan) find(annotation string, k kind, name string) (key string, ok bool) {
	key = annotation + "." + name
	if _, ok = p.pod.Annotations[key]; ok {
		return key, true
	}
	if k != ordinary {
		return "", false
	}
	_, ok = p.pod.Annotations[annotation]
	return annotation, ok
}

func (p *podPlan) duration(key, word string) (d time.Duration, isWord, ok bool) {
	text, there := p.pod.Annotations[key]
	if !there {
		return 0, false, false
	}
	if word != "" && text == word {
		return 0, true, true
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		if word != "" {
			word = fmt.Sprintf(" or %q", word)
		}
		p.problem(key, "is not a duration such as \"2s\""+word)
		return 0, false, false
	}
	return d, false, true
}

func (p *podPlan) checkName(key string) {
	for _, known := range []string{StartAfter, StopAfter} {
		if key == known {
			return
		}
	}
	for _, known := range []string{RunDuration, ExitCode, ReadyAfter, WaitingReason} {
		if key == known {
			return
		}
		if name, ok := strings.CutPrefix(key, known+"."); ok {
			if !hasContainer(p.pod, name) {
				p.problem(key, "names no container of the pod")
			}
			return
		}
	}
	p.problem(key, "is not an annotation that simulated nodes know")
}

func hasContainer(pod *corev1.Pod, name string) bool {
	for _, list := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range list {
			if list[i].Name == name {
				return true
			}
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		if pod.Spec.EphemeralContainers[i].Name == name {
			return true
		}
	}
	return false
}

func (p *podPlan) problem(key, what string) {
	text := fmt.Sprintf("annotation %s: %q %s", key, p.pod.Annotations[key], what)
	if !slices.Contains(p.problems, text) {
		p.problems = append(p.problems, text)
		slices.Sort(p.problems)
	}
}
