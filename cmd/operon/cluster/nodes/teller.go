package nodes

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"github.com/operon-dev/operon/cmd/operon/cluster/nodes/podlife"
	"github.com/operon-dev/operon/pkg/client"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
)

// An event costs the API server as much as a change of a pod, and most are never read: a burst is told for some dozens of
// pods, a steady stream for some pods a second.
const (
	eventsPerSecond = 30
	eventBurst      = 300
)

// teller writes events, one after the other and never at the expense of whoever has something to tell: what is too much is dropped.
type teller struct {
	client     client.Client
	log        logr.Logger
	correlator *record.EventCorrelator
	limit      *rate.Limiter
	queue      chan *corev1.Event
}

func newTeller(c client.Client, log logr.Logger) *teller {
	return &teller{
		client:     c,
		log:        log,
		correlator: record.NewEventCorrelator(clock.RealClock{}),
		limit:      rate.NewLimiter(eventsPerSecond, eventBurst),
		queue:      make(chan *corev1.Event, eventBurst),
	}
}

// tell queues the events of one pod: all of them or, when there were too many of late, none. Warnings take precedence.
func (t *teller) tell(pod *corev1.Pod, node string, events []podlife.Event) {
	if len(events) == 0 {
		return
	}
	about := corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}
	allowed := t.limit.AllowN(time.Now(), len(events))
	for _, e := range events {
		if !allowed && e.Type != corev1.EventTypeWarning {
			continue
		}
		t.enqueue(about, node, e)
	}
}

// tellNode queues an event of a node. Like those of a kubelet it is in the namespace default, and has the name in the UID's place.
func (t *teller) tellNode(node *corev1.Node, e podlife.Event) {
	t.enqueue(corev1.ObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: types.UID(node.Name)}, node.Name, e)
}

func (t *teller) enqueue(about corev1.ObjectReference, node string, e podlife.Event) {
	select {
	case t.queue <- newEvent(about, node, e):
	default:
	}
}

func newEvent(about corev1.ObjectReference, node string, e podlife.Event) *corev1.Event {
	now := metav1.Now()
	about.FieldPath = e.FieldPath
	return &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: cmp.Or(about.Namespace, metav1.NamespaceDefault)},
		InvolvedObject: about,
		Type:           e.Type, Reason: e.Reason, Message: e.Message,
		FirstTimestamp: now, LastTimestamp: now, Count: 1,
		Source:              corev1.EventSource{Component: "kubelet", Host: node},
		ReportingController: "kubelet",
		ReportingInstance:   node,
	}
}

// Start writes what is queued until the context ends.
func (t *teller) Start(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-t.queue:
			if err := t.write(ctx, e); err != nil && ctx.Err() == nil {
				t.log.V(1).Info("event not written", "pod", e.InvolvedObject.Name, "reason", e.Reason, "error", err.Error())
			}
		}
	}
}

func (t *teller) write(ctx context.Context, e *corev1.Event) error {
	e.Name = fmt.Sprintf("%s.%x", e.InvolvedObject.Name, time.Now().UnixNano())
	result, err := t.correlator.EventCorrelate(e)
	if err != nil || result.Skip {
		return err
	}
	e = result.Event
	if e.Count > 1 {
		err = t.client.Patch(ctx, e, client.RawPatch(types.StrategicMergePatchType, result.Patch))
	}
	if e.Count == 1 || apierrors.IsNotFound(err) {
		e.ResourceVersion = ""
		err = t.client.Create(ctx, e)
	}
	if err == nil {
		t.correlator.UpdateState(e)
	}
	return err
}
