package event

import "github.com/operon-dev/operon/pkg/client"

// The events of any object, whatever its type.
type (
	// CreateEvent says that an object came into being, or was there when the watch began.
	CreateEvent = TypedCreateEvent[client.Object]

	// UpdateEvent says that an object changed, or that a resync repeats it unchanged.
	UpdateEvent = TypedUpdateEvent[client.Object]

	// DeleteEvent says that an object is gone.
	DeleteEvent = TypedDeleteEvent[client.Object]

	// GenericEvent says that something happened that has to do with an object: a timer, a webhook call, a
	// change outside of the cluster.
	GenericEvent = TypedGenericEvent[client.Object]
)

// TypedCreateEvent says that an object came into being, or was there when the watch began.
type TypedCreateEvent[object any] struct {
	// Object as it was first seen.
	Object object

	// IsInInitialList is true for an object that was there when the watch began, and not created under its eyes.
	IsInInitialList bool
}

// TypedUpdateEvent says that an object changed, or that a resync repeats it: then both states have the same
// resourceVersion.
type TypedUpdateEvent[object any] struct {
	// ObjectOld is the state before.
	ObjectOld object

	// ObjectNew is the state after.
	ObjectNew object
}

// TypedDeleteEvent says that an object is gone.
type TypedDeleteEvent[object any] struct {
	// Object is the last known state.
	Object object

	// DeleteStateUnknown is true where the deletion itself was missed, while the watch was interrupted for
	// example: Object may then be older than the state in which it was deleted.
	DeleteStateUnknown bool
}

// TypedGenericEvent says that something happened that has to do with an object.
type TypedGenericEvent[object any] struct {
	// Object that the event is about.
	Object object
}
