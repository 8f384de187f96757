package nodes

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"github.com/operon-dev/operon/cmd/operon/cluster/nodes/podlife"
	"github.com/operon-dev/operon/pkg/client"
	corev1 "k8s.io/api/core/v1"
)

// book is a client that notes the events written through it.
type book struct {
	client.Client
	lines []string
	done  context.CancelFunc
	until int
}

func (b *book) note(verb string, obj client.Object) error {
	e := obj.(*corev1.Event)
	b.lines = append(b.lines, fmt.Sprintf("%s %s %s %s x%d", verb, e.Type, e.Reason, e.InvolvedObject.FieldPath, e.Count))
	if len(b.lines) == b.until {
		b.done()
	}
	return nil
}

func (b *book) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	return b.note("create", obj)
}

func (b *book) Patch(_ context.Context, obj client.Object, _ client.Patch, _ ...client.PatchOption) error {
	return b.note("patch", obj)
}

func TestRepeatedEventsAreCounted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	b := &book{done: cancel, until: 3}
	teller := newTeller(b, logr.Discard())
	pod := &corev1.Pod{}
	pod.Namespace, pod.Name, pod.UID = "default", "p", "u"
	started := podlife.Event{Type: "Normal", Reason: "Started", Message: "Container started", FieldPath: "spec.containers{c}"}
	backOff := podlife.Event{Type: "Warning", Reason: "BackOff", Message: "Back-off", FieldPath: "spec.containers{c}"}
	teller.tell(pod, "n", []podlife.Event{started, backOff})
	teller.tell(pod, "n", []podlife.Event{backOff})
	if err := teller.Start(ctx); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"create Normal Started spec.containers{c} x1",
		"create Warning BackOff spec.containers{c} x1",
		"patch Warning BackOff spec.containers{c} x2",
	}
	if diff := cmp.Diff(want, b.lines); diff != "" {
		t.Error(diff)
	}
}

func TestABurstIsToldInPartAndKeepsNobodyWaiting(t *testing.T) {
	teller := newTeller(nil, logr.Discard())
	teller.limit.SetLimit(0) // no time passes
	pod := &corev1.Pod{}
	three := make([]podlife.Event, 3)
	for i := range three {
		three[i].Type = corev1.EventTypeNormal
	}
	for range eventBurst {
		teller.tell(pod, "n", three)
	}
	if got := len(teller.queue); got != eventBurst {
		t.Errorf("%d events queued, want %d", got, eventBurst)
	}
	for range 30 {
		<-teller.queue
	}
	teller.tell(pod, "n", []podlife.Event{{Type: corev1.EventTypeNormal}, {Type: corev1.EventTypeWarning}})
	if got := len(teller.queue); got != eventBurst-29 {
		t.Errorf("of a normal event and a warning %d were queued", got-(eventBurst-30))
	}
}
