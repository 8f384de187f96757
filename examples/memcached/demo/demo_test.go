package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	cachev1alpha1 "github.com/operon-dev/operon/examples/memcached/api/v1alpha1"
)

// settledSnapshot is of a Memcached that has come to rest with these pods.
func settledSnapshot(pods ...string) snapshot {
	size := int32(len(pods))
	owned := metav1.ObjectMeta{Name: "cache", UID: "d", OwnerReferences: []metav1.OwnerReference{{UID: "m", Controller: ptr.To(true)}}}
	s := snapshot{
		memcached: &cachev1alpha1.Memcached{
			ObjectMeta: metav1.ObjectMeta{Name: "cache", UID: "m", Generation: 2},
			Spec:       cachev1alpha1.MemcachedSpec{Size: size},
			Status: cachev1alpha1.MemcachedStatus{Nodes: pods, ReadyReplicas: size, Conditions: []metav1.Condition{
				{Type: "Available", Status: "True", ObservedGeneration: 2}, {Type: "Progressing", Status: "False", ObservedGeneration: 2},
			}},
		},
		deployments: []appsv1.Deployment{{ObjectMeta: owned}},
		services:    []corev1.Service{{ObjectMeta: *owned.DeepCopy()}},
	}
	s.services[0].UID = "s"
	for _, name := range pods {
		s.pods = append(s.pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
			Spec:       corev1.PodSpec{NodeName: "node"},
			Status: corev1.PodStatus{PodIP: "10.0.0.1", Phase: corev1.PodRunning,
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
		})
	}
	return s
}

func TestConvergedMissesNothing(t *testing.T) {
	if missing := converged(2)(settledSnapshot("a", "b")); missing != "" {
		t.Fatalf("of what has converged, it is missing: %s", missing)
	}
	for name, spoil := range map[string]func(*snapshot){
		"no Memcached":        func(s *snapshot) { s.memcached = nil },
		"another size":        func(s *snapshot) { s.memcached.Spec.Size = 3 },
		"no Deployment":       func(s *snapshot) { s.deployments = nil },
		"no Service":          func(s *snapshot) { s.services = nil },
		"ownerless Service":   func(s *snapshot) { s.services[0].OwnerReferences = nil },
		"a pod short":         func(s *snapshot) { s.pods = s.pods[1:] },
		"pod not ready":       func(s *snapshot) { s.pods[0].Status.Conditions = nil },
		"pod on its way out":  func(s *snapshot) { s.pods[0].DeletionTimestamp = ptr.To(metav1.Now()) },
		"wrong names":         func(s *snapshot) { s.memcached.Status.Nodes = []string{"a", "c"} },
		"not available":       func(s *snapshot) { s.memcached.Status.Conditions[0].Status = "False" },
		"available last year": func(s *snapshot) { s.memcached.Status.Conditions[0].ObservedGeneration = 1 },
		"progressing":         func(s *snapshot) { s.memcached.Status.Conditions[1].Status = "True" },
		"not all ready":       func(s *snapshot) { s.memcached.Status.ReadyReplicas = 1 },
	} {
		s := settledSnapshot("a", "b")
		spoil(&s)
		if converged(2)(s) == "" {
			t.Errorf("%s: nothing is missing", name)
		}
	}
}

func TestGoneNamesWhatIsLeft(t *testing.T) {
	if left := gone(snapshot{}); left != "" {
		t.Errorf("of nothing there is left: %s", left)
	}
	if diff := cmp.Diff("still there: the Memcached, 1 Deployments, 1 pods, 1 Services", gone(settledSnapshot("a"))); diff != "" {
		t.Error(diff)
	}
}

func TestPlainScreenTellsOnlyWhatChanged(t *testing.T) {
	var out bytes.Buffer
	p := newPlainScreen(&out)
	told := func() string {
		defer out.Reset()
		return regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{3}  `).ReplaceAllString(out.String(), "")
	}
	p.begin("Do it", "make it so")
	p.show(settledSnapshot("a"))
	want := `Do it ($ make it so)
    Memcached cache: size 1, 1 ready, 1 nodes named, Available
    Deployment cache: 1 wanted, 0 there, 0 available
    Service cache: , ` + `
    Pod a: ready on node at 10.0.0.1, in status.nodes
`
	if diff := cmp.Diff(want, told()); diff != "" {
		t.Error(diff)
	}
	p.show(settledSnapshot("a"))
	if got := told(); got != "" {
		t.Errorf("of no change it told %q", got)
	}
	p.show(snapshot{pods: settledSnapshot("b").pods})
	p.done(1234 * time.Millisecond)
	want = `    Memcached cache: gone
    Deployment cache: gone
    Service cache: gone
    Pod a: gone
    Pod b: ready on node at 10.0.0.1
  done in 1.2 s
`
	if diff := cmp.Diff(want, told()); diff != "" {
		t.Error(diff)
	}
	p.begin("Fail", "x")
	told()
	p.close()
	if got := told(); got != "  not done\n" {
		t.Errorf("of an unfinished step it told %q at the end", got)
	}
}

func TestPictureMarksWhatCameAndWent(t *testing.T) {
	s := &terminalScreen{w: &bytes.Buffer{}, width: func() int { return 80 }}
	s.rows = settledSnapshot("a", "b").rows()
	s.begin("Replace a", "x")
	s.rows = settledSnapshot("b", "c").rows()
	states := map[string]string{}
	for _, r := range s.picture() {
		if r.kind == "Pod" {
			states[r.name] = r.state
		}
	}
	ready := "ready on node at 10.0.0.1, in status.nodes"
	if diff := cmp.Diff(map[string]string{"a": "gone", "b": ready, "c": ready + ", new"}, states); diff != "" {
		t.Error(diff)
	}
}

func TestTerminalLinesFitAndAreTakenBack(t *testing.T) {
	var out bytes.Buffer
	const width = 30
	s := &terminalScreen{w: &out, width: func() int { return width }, colours: true}
	s.begin("A title that is longer than the terminal is wide", "and a command")
	s.show(settledSnapshot("a-pod-of-a-rather-long-name", "b"))
	drawn := s.drawn
	out.Reset()
	s.done(time.Second)
	if back := fmt.Sprintf("\x1b[%dA\r\x1b[J", drawn); !strings.HasPrefix(out.String(), back) {
		t.Errorf("it doesn't begin with taking %d lines back: %q", drawn, out.String())
	}
	for line := range strings.Lines(regexp.MustCompile(`\x1b\[\d*[A-Za-z]`).ReplaceAllString(out.String(), "")) {
		if n := utf8.RuneCountInString(strings.Trim(line, "\r\n")); n >= width {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

func TestTailKeepsTheLastLines(t *testing.T) {
	var log tail
	if got := log.indented(); got != "" {
		t.Errorf("of nothing: %q", got)
	}
	for i := range logLines + 5 {
		fmt.Fprintf(&log, "li")
		fmt.Fprintf(&log, "ne %d\n", i)
	}
	fmt.Fprint(&log, "unfinished")
	lines := strings.Split(log.indented(), "\n")
	if len(lines) != logLines+1 || lines[0] != "    line 5" || lines[logLines] != "    unfinished" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

// TestMain lets this test program be the child that the tests start.
func TestMain(m *testing.M) {
	switch os.Getenv("DEMO_TEST_CHILD") {
	case "ready":
		fmt.Println("ready: kubeconfig at x")
		_, _ = os.Stdin.Read(make([]byte, 1)) // until it is closed
	case "broken":
		fmt.Fprintln(os.Stderr, "port 1 is in use")
		os.Exit(3)
	default:
		os.Exit(m.Run())
	}
}

func startTestChild(t *testing.T, behaviour string) *child {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c, err := startChild("child", self, nil, []string{"DEMO_TEST_CHILD=" + behaviour}, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop)
	return c
}

func TestChildIsReadyWhenItSaysSoAndStops(t *testing.T) {
	c := startTestChild(t, "ready")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := c.awaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	select {
	case <-c.ended:
		t.Error("it ended before it was asked to")
	default:
	}
	c.stop()
	<-c.ended
}

func TestChildThatBreaksSaysWhy(t *testing.T) {
	c := startTestChild(t, "broken")
	err := c.awaitReady(t.Context())
	if err == nil || err.Error() != "the child ended by itself (exit status 3)" {
		t.Errorf("error %v", err)
	}
	if got := c.lastLines(); got != "    port 1 is in use" {
		t.Errorf("last lines %q", got)
	}
}
