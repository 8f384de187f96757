package recorder

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/tools/record"
)

// A marker is put at the end of a queue of core/v1 events, which has no other way to say that all before it were sent: the queue counts some
// of them together and leaves others out.
type marker struct {
	object  types.UID
	reached chan struct{}
	once    sync.Once
}

func newMarker() *marker { return &marker{object: uuid.NewUUID(), reached: make(chan struct{})} }

// is reports whether an event is the marker, which is not sent.
func (m *marker) is(event *corev1.Event) bool { return event.InvolvedObject.UID == m.object }

func (m *marker) arrive() { m.once.Do(func() { close(m.reached) }) }

// flush returns when what was recorded before has been sent, counted with another event or given up, or when sending has ended.
func (p *APIProvider) flush(queue record.EventBroadcaster) {
	to := queue.NewRecorder(p.options.Scheme, corev1.EventSource{Component: "flush"})
	to.Event(&corev1.ObjectReference{UID: p.last.object, Namespace: "default"}, corev1.EventTypeNormal, "Flush", "")
	select {
	case <-p.last.reached:
	case <-p.sending.Done():
	}
}
