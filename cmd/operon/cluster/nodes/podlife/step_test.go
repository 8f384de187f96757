package podlife

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Half a second, because a status keeps times to the second only and nothing may depend on that.
var begin = time.Date(2026, 1, 2, 3, 4, 5, 500_000_000, time.UTC)

// moment is what a pod should look like some time after it was bound.
type moment struct {
	at   time.Duration
	do   func(*corev1.Pod)
	want string
}

func TestNext(t *testing.T) {
	cases := map[string]struct {
		pod     *corev1.Pod
		world   func(*World)
		moments []moment
	}{
		"a pod without delays is ready in one step": {
			pod:     pod("Always", ctr("web"), ctr("log")),
			moments: []moment{{want: "Running Ready web=ready log=ready"}, {at: time.Hour, want: "Running Ready web=ready log=ready"}},
		},
		"a start delay shows the containers being created": {
			pod:   pod("Always", ctr("web")),
			world: func(w *World) { w.StartAfter = 300 * time.Millisecond },
			moments: []moment{
				{want: "Pending web=ContainerCreating wake=300ms"},
				{at: 299 * time.Millisecond, want: "Pending web=ContainerCreating wake=300ms"},
				{at: 300 * time.Millisecond, want: "Running Ready web=ready"},
			},
		},
		"readiness comes when it is said to": {
			pod: note(pod("Always", ctr("web")), ReadyAfter, "250ms"),
			moments: []moment{
				{want: "Running web=running wake=250ms"},
				{at: 250 * time.Millisecond, want: "Running Ready web=ready"},
			},
		},
		"readiness can be taken away from a running pod": {
			pod: pod("Always", ctr("web")),
			moments: []moment{
				{want: "Running Ready web=ready"},
				{at: time.Second, do: func(p *corev1.Pod) { note(p, ReadyAfter, "never") }, want: "Running web=running"},
			},
		},
		"init containers run in order, each to its end": {
			pod: note(note(inits(pod("Always", ctr("web")), ctr("a"), ctr("b")), RunDuration+".a", "1s"), RunDuration+".b", "2s"),
			moments: []moment{
				{want: "Pending !init a=running b=PodInitializing web=PodInitializing wake=1s"},
				{at: time.Second, want: "Pending !init a=exit0 b=running web=PodInitializing wake=3s"},
				{at: 3 * time.Second, want: "Running Ready a=exit0 b=exit0 web=ready"},
			},
		},
		"init containers that take no time are over in one step": {
			pod:     inits(pod("Always", ctr("web")), ctr("a"), side("s"), ctr("b")),
			moments: []moment{{want: "Running Ready a=exit0 s=ready b=exit0 web=ready"}},
		},
		"a sidecar runs before the init containers after it": {
			pod: note(inits(pod("Always", ctr("web")), side("s"), ctr("b")), RunDuration+".b", "1s"),
			moments: []moment{
				{want: "Pending !init s=ready b=running web=PodInitializing wake=1s"},
				{at: time.Second, want: "Running Ready s=ready b=exit0 web=ready"},
			},
		},
		"a failing init container fails a pod that does not restart": {
			pod:     note(inits(pod("Never", ctr("web")), ctr("a")), ExitCode+".a", "3"),
			moments: []moment{{want: "Failed !init a=exit3 web=PodInitializing"}},
		},
		"a failing init container is tried again, with back-off": {
			pod: note(inits(pod("Always", ctr("web")), ctr("a")), ExitCode+".a", "3"),
			moments: []moment{
				{want: "Pending !init a=CrashLoopBackOff/1 web=PodInitializing wake=10s"},
				{at: 10 * time.Second, want: "Pending !init a=CrashLoopBackOff/2 web=PodInitializing wake=30s"},
				{at: 20 * time.Second, do: func(p *corev1.Pod) { delete(p.Annotations, ExitCode+".a") }, want: "Pending !init a=CrashLoopBackOff/2 web=PodInitializing wake=29.5s"},
				{at: 30 * time.Second, want: "Running Ready a=exit0/3 web=ready"},
			},
		},
		"a pod that does not restart completes": {
			pod: pod("Never", ctr("job")),
			moments: []moment{
				{want: "Running Ready job=ready wake=1s"},
				{at: 999 * time.Millisecond, want: "Running Ready job=ready wake=1s"},
				{at: time.Second, want: "Succeeded job=exit0"},
				{at: time.Hour, want: "Succeeded job=exit0"},
			},
		},
		"a pod that does not restart can be told to fail": {
			pod:     note(note(pod("Never", ctr("job")), ExitCode, "7"), RunDuration, "0s"),
			moments: []moment{{want: "Failed job=exit7"}},
		},
		"a pod that does not restart can be told to stay": {
			pod:     note(pod("Never", ctr("job")), RunDuration, "forever"),
			moments: []moment{{want: "Running Ready job=ready"}},
		},
		"a command line that says how it ends is taken at its word": {
			pod: pod("Never", command("job", "sh", "-c", "sleep 5; exit 3"), command("other", "true")),
			moments: []moment{
				{want: "Running Ready job=ready other=ready wake=1s"},
				{at: time.Second, want: "Running job=ready other=exit0 wake=5s"},
				{at: 5 * time.Second, want: "Failed job=exit3 other=exit0"},
			},
		},
		"a command line that fails makes a server crash-loop": {
			pod: pod("Always", command("web", "false")),
			moments: []moment{
				{want: "Running Ready web=ready wake=1s"},
				{at: time.Second, want: "Running Ready web=ready/1 wake=2s"},
				{at: 2 * time.Second, want: "Running web=CrashLoopBackOff/1 wake=12s"},
			},
		},
		"an init container takes as long as its command line says": {
			pod: inits(pod("Always", ctr("web")), command("a", "sleep", "2")),
			moments: []moment{
				{want: "Pending !init a=running web=PodInitializing wake=2s"},
				{at: 2 * time.Second, want: "Running Ready a=exit0 web=ready"},
			},
		},
		"an exit code takes the place of the command line": {
			pod: note(pod("Never", command("job", "sleep", "infinity")), ExitCode, "3"),
			moments: []moment{
				{want: "Running Ready job=ready wake=1s"},
				{at: time.Second, want: "Failed job=exit3"},
			},
		},
		"a time to run takes the place of that of the command line": {
			pod: note(pod("Never", command("job", "sh", "-c", "sleep 60; exit 3")), RunDuration, "2s"),
			moments: []moment{
				{want: "Running Ready job=ready wake=2s"},
				{at: 2 * time.Second, want: "Failed job=exit3"},
			},
		},
		"a readiness probe whose command line fails does not pass": {
			pod: pod("Always", probed("a", "true"), probed("b", "false")),
			moments: []moment{
				{want: "Running a=ready b=running"},
				{at: time.Second, do: func(p *corev1.Pod) { note(p, ReadyAfter, "0s") }, want: "Running Ready a=ready b=ready"},
			},
		},
		"a pod that its node refuses fails": {
			pod:     pod("Always", ctr("web")),
			world:   func(w *World) { w.Refused = &Refusal{Reason: "NodePorts", Message: "taken"} },
			moments: []moment{{want: "Failed reason=NodePorts"}},
		},
		"sidecars end when the work is done": {
			pod: inits(pod("Never", ctr("job")), side("s")),
			moments: []moment{
				{want: "Running Ready s=ready job=ready wake=1s"},
				{at: time.Second, want: "Succeeded s=exit0 job=exit0"},
			},
		},
		"one of two containers that ends leaves the pod running and not ready": {
			pod: note(pod("Never", ctr("a"), ctr("b")), RunDuration+".b", "5s"),
			moments: []moment{
				{want: "Running Ready a=ready b=ready wake=1s"},
				{at: time.Second, want: "Running a=exit0 b=ready wake=5s"},
				{at: 5 * time.Second, want: "Succeeded a=exit0 b=exit0"},
			},
		},
		"restart on failure runs until it succeeds": {
			pod: note(pod("OnFailure", ctr("job")), ExitCode, "1"),
			moments: []moment{
				{want: "Running Ready job=ready wake=1s"},
				{at: time.Second, want: "Running Ready job=ready/1 wake=2s"},
				{at: 2 * time.Second, want: "Running job=CrashLoopBackOff/1 wake=12s"},
				{at: 12 * time.Second, do: func(p *corev1.Pod) { delete(p.Annotations, ExitCode) }, want: "Running Ready job=ready/2 wake=13s"},
				{at: 13 * time.Second, want: "Succeeded job=exit0/2"},
			},
		},
		"a server that exits is restarted, with back-off": {
			pod: note(note(pod("Always", ctr("web")), RunDuration, "1s"), ExitCode, "2"),
			moments: []moment{
				{want: "Running Ready web=ready wake=1s"},
				{at: time.Second, want: "Running Ready web=ready/1 wake=2s"},
				{at: 2 * time.Second, want: "Running web=CrashLoopBackOff/1 wake=12s"},
				{at: 12 * time.Second, want: "Running Ready web=ready/2 wake=13s"},
				{at: 13 * time.Second, want: "Running web=CrashLoopBackOff/2 wake=33s"},
			},
		},
		"a container's own restart rules come before the pod's policy": {
			pod: edit(note(pod("Never", ctr("job")), ExitCode, "42"), func(p *corev1.Pod) {
				never := corev1.ContainerRestartPolicyNever
				p.Spec.Containers[0].RestartPolicy = &never
				p.Spec.Containers[0].RestartPolicyRules = []corev1.ContainerRestartRule{{Action: "Restart",
					ExitCodes: &corev1.ContainerRestartRuleOnExitCodes{Operator: "In", Values: []int32{42}}}}
			}),
			moments: []moment{
				{want: "Running Ready job=ready wake=1s"},
				{at: time.Second, want: "Running Ready job=ready/1 wake=2s"},
				{at: 1500 * time.Millisecond, do: func(p *corev1.Pod) { note(p, ExitCode, "1") }, want: "Running Ready job=ready/1 wake=2s"},
				{at: 2 * time.Second, want: "Failed job=exit1/1"},
			},
		},
		"a deadline ends the pod": {
			pod: edit(pod("Always", ctr("web")), func(p *corev1.Pod) { p.Spec.ActiveDeadlineSeconds = ptr(int64(5)) }),
			moments: []moment{
				{want: "Running Ready web=ready wake=5s"},
				{at: 5 * time.Second, want: "Failed web=exit0 reason=DeadlineExceeded"},
			},
		},
		"a readiness gate keeps a pod from being ready": {
			pod: edit(pod("Always", ctr("web")), func(p *corev1.Pod) {
				p.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
			}),
			moments: []moment{
				{want: "Running web=ready"},
				{at: time.Second, do: func(p *corev1.Pod) {
					p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: "example.com/lb", Status: "True"})
				}, want: "Running Ready web=ready"},
				{at: 2 * time.Second, do: func(p *corev1.Pod) {
					p.Status.Conditions[len(p.Status.Conditions)-1].Status = "False"
				}, want: "Running web=ready"},
			},
		},
		"a pod that is asked to go ends at once": {
			pod: pod("Always", ctr("web")),
			moments: []moment{
				{want: "Running Ready web=ready"},
				{at: time.Second, do: deleted(time.Second, 30), want: "Succeeded web=exit0 ended"},
			},
		},
		"a batch pod that is asked to go has not succeeded": {
			pod: pod("OnFailure", ctr("job")),
			moments: []moment{
				{want: "Running Ready job=ready wake=1s"},
				{at: 500 * time.Millisecond, do: deleted(500*time.Millisecond, 30), want: "Failed job=exit143 ended"},
			},
		},
		"a pod that ignores SIGTERM is killed when its grace is over": {
			pod: note(pod("Always", ctr("web")), StopAfter, "never"),
			moments: []moment{
				{want: "Running Ready web=ready"},
				{at: time.Second, do: deleted(time.Second, 3), want: "Running Ready web=ready wake=3.5s"},
				{at: 4 * time.Second, want: "Failed web=exit137 ended"},
			},
		},
		"a pod may take part of its grace": {
			pod: note(pod("Always", ctr("web")), StopAfter, "2s"),
			moments: []moment{
				{want: "Running Ready web=ready"},
				{at: time.Second, do: deleted(time.Second, 30), want: "Running Ready web=ready wake=2.5s"},
				{at: 3 * time.Second, want: "Succeeded web=exit0 ended"},
			},
		},
		"a finished pod that is asked to go has ended": {
			pod: pod("Never", ctr("job")),
			moments: []moment{
				{want: "Running Ready job=ready wake=1s"},
				{at: time.Second, want: "Succeeded job=exit0"},
				{at: 2 * time.Second, do: deleted(2*time.Second, 0), want: "Succeeded job=exit0 ended"},
			},
		},
		"a pod that never started is asked to go": {
			pod:     edit(pod("Always", ctr("web")), deleted(0, 30)),
			moments: []moment{{want: "Failed ended"}},
		},
		"a waiting reason holds one container": {
			pod: note(pod("Always", ctr("web"), ctr("log")), WaitingReason+".log", "ImagePullBackOff"),
			moments: []moment{
				{want: "Pending web=ready log=ImagePullBackOff"},
				{at: time.Second, do: func(p *corev1.Pod) { p.Annotations = nil }, want: "Running Ready web=ready log=ready"},
			},
		},
		"missing configuration holds its container": {
			pod:   pod("Always", ctr("web")),
			world: func(w *World) { w.MissingConfig = map[string]string{"web": `configmap "x" not found`} },
			moments: []moment{
				{want: "Pending web=CreateContainerConfigError"},
			},
		},
		"a missing volume holds the pod": {
			pod:   inits(pod("Always", ctr("web")), ctr("a")),
			world: func(w *World) { w.MissingVolumes = []string{`MountVolume.SetUp failed`} },
			moments: []moment{
				{want: "Pending !init a=PodInitializing web=PodInitializing"},
			},
		},
		"an ephemeral container joins a running pod": {
			pod: pod("Always", ctr("web")),
			moments: []moment{
				{want: "Running Ready web=ready"},
				{at: time.Second, do: func(p *corev1.Pod) {
					p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Image: "busybox"}}}
				}, want: "Running Ready web=ready debug=running"},
			},
		},
		"what cannot be understood is reported and ignored": {
			pod:     note(note(note(pod("Never", ctr("job")), RunDuration, "soon"), "sim.operon.dev/explode", "yes"), ExitCode+".web", "1"),
			moments: []moment{{want: "Running Ready job=ready wake=1s problems=3"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			starts := map[string]time.Time{}
			p := c.pod
			for _, m := range c.moments {
				if m.do != nil {
					m.do(p)
				}
				w := World{HostIP: "198.18.0.1", PodIP: "10.128.0.1", Seen: begin, RunFor: time.Second,
					Started: func(id string) (time.Time, bool) { at, ok := starts[id]; return at, ok }}
				if c.world != nil {
					c.world(&w)
				}
				before := p.DeepCopy()
				step := Next(p, w, begin.Add(m.at))
				if !equality.Semantic.DeepEqual(before, p) {
					t.Fatalf("after %s: the pod was changed: %s", m.at, cmp.Diff(before, p))
				}
				if got := summary(step); got != m.want {
					t.Errorf("after %s:\n got %s\nwant %s", m.at, got, m.want)
				}
				for id, at := range step.Started {
					starts[id] = at
				}
				p.Status = throughJSON(t, step.Status)
				again := Next(p, w, begin.Add(m.at))
				if !equality.Semantic.DeepEqual(again.Status, p.Status) {
					t.Errorf("after %s: the same step gave another status: %s", m.at, cmp.Diff(p.Status, again.Status))
				}
			}
		})
	}
}

func TestTransitionTimesAreKept(t *testing.T) {
	p := note(pod("Always", ctr("web")), ReadyAfter, "1m")
	w := World{HostIP: "198.18.0.1", PodIP: "10.128.0.1"}
	p.Status = Next(p, w, begin).Status
	s := &step{status: &p.Status}
	initialized := s.find(corev1.PodInitialized).LastTransitionTime
	p.Status = Next(p, w, begin.Add(time.Hour)).Status
	s = &step{status: &p.Status}
	if got := s.find(corev1.PodInitialized).LastTransitionTime; !got.Equal(&initialized) {
		t.Errorf("Initialized did not change, its transition time did: %s to %s", initialized, got)
	}
	if got := s.find(corev1.PodReady).LastTransitionTime; !got.Time.Equal(begin.Add(time.Hour)) {
		t.Errorf("Ready changed at %s, not at %s", got, begin.Add(time.Hour))
	}
	if got := p.Status.StartTime; !got.Time.Equal(begin) {
		t.Errorf("start time moved to %s", got)
	}
}

func TestAddresses(t *testing.T) {
	w := World{HostIP: "198.18.0.1", PodIP: "10.128.0.1"}
	own := pod("Always", ctr("web"))
	hosts := edit(pod("Always", ctr("web")), func(p *corev1.Pod) { p.Spec.HostNetwork = true })
	had := edit(pod("Always", ctr("web")), func(p *corev1.Pod) { p.Status.PodIP = "10.128.0.9" })
	for want, p := range map[string]*corev1.Pod{"10.128.0.1": own, "198.18.0.1": hosts, "10.128.0.9": had} {
		if got := Next(p, w, begin).Status; got.PodIP != want || got.HostIP != "198.18.0.1" {
			t.Errorf("pod %s, host %s; want pod %s", got.PodIP, got.HostIP, want)
		}
	}
}

func TestResizeIsGranted(t *testing.T) {
	p := pod("Always", ctr("web"))
	cpu := corev1.ResourceList{corev1.ResourceCPU: quantity("1")}
	p.Status = Next(p, World{HostIP: "198.18.0.1", PodIP: "10.128.0.1"}, begin).Status
	p.Spec.Containers[0].Resources.Requests = cpu
	p.Spec.Resources = &corev1.ResourceRequirements{Requests: cpu}
	p.Generation++
	p.Status = Next(p, World{HostIP: "198.18.0.1", PodIP: "10.128.0.1"}, begin).Status
	cs := p.Status.ContainerStatuses[0]
	if cs.Resources == nil || !equality.Semantic.DeepEqual(cs.Resources.Requests, cpu) || !equality.Semantic.DeepEqual(cs.AllocatedResources, cpu) {
		t.Errorf("requests %v, allocated %v", cs.Resources, cs.AllocatedResources)
	}
	if !equality.Semantic.DeepEqual(p.Status.Resources, p.Spec.Resources) || !equality.Semantic.DeepEqual(p.Status.AllocatedResources, cpu) {
		t.Errorf("the pod's own requests %v, allocated %v", p.Status.Resources, p.Status.AllocatedResources)
	}
	if p.Status.ObservedGeneration != p.Generation {
		t.Errorf("observed generation %d of %d", p.Status.ObservedGeneration, p.Generation)
	}
}

func TestEvents(t *testing.T) {
	p := note(pod("Always", ctr("web")), ExitCode, "1")
	w := World{HostIP: "198.18.0.1", PodIP: "10.128.0.1", RunFor: time.Second}
	var got []string
	at := func(d time.Duration) {
		step := Next(p, w, begin.Add(d))
		p.Status = step.Status
		for _, e := range step.Events {
			got = append(got, fmt.Sprintf("%s %s %s", d, e.Reason, e.FieldPath))
		}
	}
	at(0)
	at(500 * time.Millisecond)
	at(time.Second)
	at(2 * time.Second)
	at(3 * time.Second)
	deleted(4*time.Second, 30)(p)
	at(12 * time.Second)
	want := []string{
		"0s Pulled spec.containers{web}", "0s Created spec.containers{web}", "0s Started spec.containers{web}",
		"1s Pulled spec.containers{web}", "1s Created spec.containers{web}", "1s Started spec.containers{web}",
		"2s BackOff spec.containers{web}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBackOffDoublesToFiveMinutes(t *testing.T) {
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(begin), FinishedAt: metav1.NewTime(begin)}}
	for restarts, want := range map[int32]time.Duration{0: 0, 1: 10 * time.Second, 2: 20 * time.Second, 5: 160 * time.Second, 6: 5 * time.Minute, 1000: 5 * time.Minute} {
		if got := backOff(&corev1.ContainerStatus{RestartCount: restarts, LastTerminationState: ended}); got != want {
			t.Errorf("after %d restarts: %s, want %s", restarts, got, want)
		}
	}
	ended.Terminated.FinishedAt = metav1.NewTime(begin.Add(time.Hour))
	if got := backOff(&corev1.ContainerStatus{RestartCount: 9, LastTerminationState: ended}); got != 0 {
		t.Errorf("after a run of an hour: %s", got)
	}
}

// summary tells a step in a line: phase, Ready, one word for each container ("/2" for two restarts), and what comes next.
func summary(s Step) string {
	st := s.Status
	words := []string{string(st.Phase)}
	x := &step{status: &st}
	if c := x.find(corev1.PodReady); c != nil && c.Status == corev1.ConditionTrue {
		words = append(words, "Ready")
	}
	if c := x.find(corev1.PodInitialized); c != nil && c.Status != corev1.ConditionTrue {
		words = append(words, "!init")
	}
	for _, list := range [][]corev1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses, st.EphemeralContainerStatuses} {
		for _, cs := range list {
			word := "?"
			switch {
			case cs.State.Running != nil && cs.Ready:
				word = "ready"
			case cs.State.Running != nil:
				word = "running"
			case cs.State.Terminated != nil:
				word = fmt.Sprintf("exit%d", cs.State.Terminated.ExitCode)
			case cs.State.Waiting != nil:
				word = cs.State.Waiting.Reason
			}
			if cs.RestartCount > 0 {
				word += fmt.Sprintf("/%d", cs.RestartCount)
			}
			words = append(words, cs.Name+"="+word)
		}
	}
	if st.Reason != "" {
		words = append(words, "reason="+st.Reason)
	}
	if !s.Wake.IsZero() {
		words = append(words, "wake="+s.Wake.Sub(begin).String())
	}
	if s.Ended {
		words = append(words, "ended")
	}
	if n := len(s.Problems); n > 0 {
		words = append(words, fmt.Sprintf("problems=%d", n))
	}
	return strings.Join(words, " ")
}

// throughJSON gives what is left of a status when it has been to the API server and back.
func throughJSON(t *testing.T, in corev1.PodStatus) (out corev1.PodStatus) {
	t.Helper()
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
