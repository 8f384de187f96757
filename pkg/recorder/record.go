package recorder

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

// coreRecorder makes its recorder when it is first needed: most programs ask
// for more recorders than they use, and each would start goroutines.
type coreRecorder struct {
	provider *APIProvider
	name     string

	once sync.Once
	made record.EventRecorder
}

func (r *coreRecorder) record(f func(record.EventRecorder)) {
	r.provider.handOver(func() {
		r.once.Do(func() { r.made = r.provider.coreRecorderOf(r.name) })
		f(r.made)
	})
}

// Event implements record.EventRecorder.
func (r *coreRecorder) Event(object runtime.Object, eventtype, reason, message string) {
	r.record(func(to record.EventRecorder) { to.Event(object, eventtype, reason, message) })
}

// Eventf implements record.EventRecorder.
func (r *coreRecorder) Eventf(object runtime.Object, eventtype, reason, messageFmt string, args ...any) {
	r.record(func(to record.EventRecorder) { to.Eventf(object, eventtype, reason, messageFmt, args...) })
}

// AnnotatedEventf implements record.EventRecorder.
func (r *coreRecorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, messageFmt string, args ...any) {
	r.record(func(to record.EventRecorder) {
		to.AnnotatedEventf(object, annotations, eventtype, reason, messageFmt, args...)
	})
}

// newerRecorder is coreRecorder's counterpart for events.k8s.io/v1.
type newerRecorder struct {
	provider *APIProvider
	name     string

	once sync.Once
	made events.EventRecorder
}

func (r *newerRecorder) record(f func(events.EventRecorder)) {
	r.provider.handOver(func() {
		r.once.Do(func() { r.made = r.provider.newerRecorderOf(r.name) })
		f(r.made)
	})
}

// Eventf implements events.EventRecorder.
func (r *newerRecorder) Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any) {
	r.record(func(to events.EventRecorder) { to.Eventf(regarding, related, eventtype, reason, action, note, args...) })
}

// AnnotatedEventf implements events.AnnotatedEventRecorder.
func (r *newerRecorder) AnnotatedEventf(regarding, related runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...any) {
	r.record(func(to events.EventRecorder) {
		if annotated, ok := to.(events.AnnotatedEventRecorder); ok {
			annotated.AnnotatedEventf(regarding, related, annotations, eventtype, reason, action, note, args...)
		}
	})
}
