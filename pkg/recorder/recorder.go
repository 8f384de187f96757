package recorder

import (
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

// EventRecorder records events of events.k8s.io/v1, with or without
// annotations. It may be used by several goroutines at once.
type EventRecorder interface {
	events.EventRecorder
	events.AnnotatedEventRecorder
}

// Provider hands out event recorders by the name of who reports.
type Provider interface {
	// GetEventRecorderFor returns a recorder of core/v1 events.
	//
	// Deprecated: it writes the older API. Use GetEventRecorder.
	GetEventRecorderFor(name string) record.EventRecorder

	// GetEventRecorder returns a recorder of events.k8s.io/v1 events whose
	// reportingController is name, which has to be a qualified name as labels
	// have them. Name, a dash and the host name become the reportingInstance
	// and may have 128 characters together.
	GetEventRecorder(name string) EventRecorder
}
