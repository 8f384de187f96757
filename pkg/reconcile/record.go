package reconcile

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// Record is what a controller knows about one reconciliation when it is over. It does not change any more, and
// may be kept.
type Record struct {
	// Controller is the name of the controller.
	Controller string
	// ID is the reconcileID of the log lines.
	ID types.UID
	// Request is what was reconciled: a Request or, in a controller of another type, what it has in its place.
	Request any

	// Trigger is why.
	Trigger Trigger
	// Merged is how many more triggers there were, between the first one and the start: they asked for what was
	// going to happen anyway.
	Merged int
	// Priority with which the request was queued.
	Priority int
	// Waited is how long the request was due before a worker took it.
	Waited time.Duration

	// Started is when the reconciler was called.
	Started time.Time
	// Took is how long the call took.
	Took time.Duration

	// Reads and Writes are how many calls the reconciler made of clients that are made by client.New, with its
	// context; a read of the cache through another way, such as cache.Lend, does not count.
	Reads, Writes int
	// Accesses are these calls, in the order of the first of each kind. There are MaxAccesses at most.
	Accesses []Access
	// Omitted is how many calls are not in Accesses because there was no more room.
	Omitted int

	// Outcome is how it ended, as in the label result of controller_runtime_reconcile_total: success, error,
	// requeue or requeue_after.
	Outcome string
	// Result and Err are what the reconciler returned. Err is an error that tells of the panic if it panicked.
	Result Result
	Err    error
	// Terminal says that Err will not be retried.
	Terminal bool
	// Panicked says that the reconciler panicked.
	Panicked bool
	// TimedOut says that ReconciliationTimeout was over before the reconciler returned.
	TimedOut bool
}

// MaxAccesses is how many different accesses a Record holds.
const MaxAccesses = 64

// Access is what a reconciler did to one object, or to the objects of a list, in one way.
type Access struct {
	// Verb is what was done.
	Verb client.Verb
	// Kind of the object or objects.
	Kind schema.GroupVersionKind
	// Subresource that was read or written. Empty: the object itself.
	Subresource string
	// Key of the object; of a list, the namespace, empty for all.
	Key client.ObjectKey
	// Cached says that the cache answered.
	Cached bool

	// Times is how often.
	Times int
	// Failed is how many of these were errors.
	Failed int
	// Objects is how many objects were read, all times together.
	Objects int
}

// String describes the access, as in "update apps/v1 Deployment default/web status".
func (a Access) String() string {
	s := a.Verb.String() + " " + a.Kind.GroupVersion().String() + " " + a.Kind.Kind
	switch {
	case a.Key.Name != "":
		s += " " + a.Key.String()
	case a.Key.Namespace != "":
		s += " in " + a.Key.Namespace
	}
	if a.Subresource != "" {
		s += " " + a.Subresource
	}
	if a.Times > 1 {
		s += fmt.Sprintf(", %d times", a.Times)
	}
	if a.Failed > 0 {
		s += fmt.Sprintf(", %d failed", a.Failed)
	}
	return s
}

// Cause is the sort of thing that makes a controller reconcile.
type Cause uint8

// The causes.
const (
	// CauseUnknown is that of a request that was added to the queue by other means than a handler's, or to a
	// queue that does not keep causes: one that NewQueue made, or client-go's.
	CauseUnknown Cause = iota
	// CauseInitialList is an object that was there when the watch began.
	CauseInitialList
	// CauseCreate is an object that was made.
	CauseCreate
	// CauseUpdate is an object that was changed.
	CauseUpdate
	// CauseResync is an update that changed nothing: time has passed.
	CauseResync
	// CauseDelete is an object that is gone.
	CauseDelete
	// CauseGeneric is an event from outside the cluster.
	CauseGeneric
	// CauseRetry is an error of the reconciliation before.
	CauseRetry
	// CauseRequeue is the Result of the reconciliation before.
	CauseRequeue

	// NumCauses is how many there are: all are less.
	NumCauses
)

// String returns the cause's name, as in the label cause of operon_reconcile_triggers_total.
func (c Cause) String() string {
	if c >= NumCauses {
		c = CauseUnknown
	}
	return [NumCauses]string{"unknown", "initial_list", "create", "update", "resync", "delete", "generic", "retry", "requeue"}[c]
}

// MarshalText implements encoding.TextMarshaler with the name.
func (c Cause) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Trigger is what made a controller reconcile.
type Trigger struct {
	// Cause is what happened.
	Cause Cause
	// Kind is that of the object it happened to: as the object says it, or else the name of its Go type. Empty for
	// CauseUnknown, CauseRetry and CauseRequeue, and for sources that do not deal in objects.
	Kind string
	// Object is the namespace and name of the object.
	Object client.ObjectKey
}

// String describes the trigger, as in "update of Deployment default/web".
func (t Trigger) String() string {
	if t.Kind == "" && t.Object.Name == "" {
		return t.Cause.String()
	}
	return t.Cause.String() + " of " + t.Kind + " " + t.Object.String()
}
