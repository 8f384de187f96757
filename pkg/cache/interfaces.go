package cache

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operon-dev/operon/pkg/client"
)

// Cache reads objects from memory and tells handlers of their changes.
type Cache interface {
	// Reader reads from memory. A read of a resource that is not cached yet starts watching it, and waits for the first
	// list, unless its context has ended.
	client.Reader

	// Informers are the resources that are watched.
	Informers
}

// Informers starts and stops the watching of resources, and adds indexes to what is watched. It is safe for concurrent
// use.
type Informers interface {
	// GetInformer returns the informer of obj's kind in obj's form: its handlers get objects of obj's Go type. The
	// first call for a resource starts watching it, or has it watched when the cache starts.
	//
	// In a started cache GetInformer waits for the first list, unless told otherwise by [BlockUntilSynced]. When
	// ctx ends first, the error names what kept the list from coming and wraps it (a [WatchError]).
	//
	// The resource is watched for as long as somebody uses it. An informer uses it from here on until the last handler
	// that was added through it is removed, for good if none is; adding one again uses it again. An informer that was
	// got with a context that has ended uses nothing until it has a handler, and starts nothing. A read that started the watching uses it
	// for good; reads of what is watched for others do not, nor do indexes. When nobody uses a resource any more, the
	// watch ends and the memory is given back; indexes are remembered for the next.
	GetInformer(ctx context.Context, obj client.Object, opts ...InformerGetOption) (Informer, error)

	// GetInformerForKind is GetInformer for the Go type that the scheme has for gvk, or unstructured objects if it has none.
	GetInformerForKind(ctx context.Context, gvk schema.GroupVersionKind, opts ...InformerGetOption) (Informer, error)

	// RemoveInformer ends the informer of obj's kind in obj's form whoever uses it, and removes its handlers and indexes.
	// When it was the last of its resource, watching ends and the memory is given back. It is no error if there is none.
	// A later read or GetInformer starts anew. Those who remove the handlers they have added need not call it.
	RemoveInformer(ctx context.Context, obj client.Object) error

	// Start watches what has been and will be asked for until ctx ends. It returns when everything that it started has
	// ended. A cache can be started once.
	Start(ctx context.Context) error

	// WaitForCacheSync waits until the cache has been started and everything that was asked for before the call has
	// been listed. It returns false, and logs what is missing and why, when ctx ends first.
	WaitForCacheSync(ctx context.Context) bool

	// FieldIndexer adds indexes. The function gets objects in the form of the object IndexField was called with; the
	// index answers Lists in all forms. An index can be added at any time. The function runs while the store of
	// the resource is locked: it must be quick and must not read from the cache.
	client.FieldIndexer
}

// Informer tells handlers of the changes of a resource. The objects handed over are shared: handlers must not change
// them.
//
// Each handler is told in a goroutine of its own, one event after the other, and the events of one object in the order
// in which they happened. It hears first of everything that is cached, as OnAdd with isInInitialList, as soon as the
// first list is complete.
type Informer interface {
	// AddEventHandler adds a handler that gets a resync at the cache's SyncPeriod.
	AddEventHandler(handler toolscache.ResourceEventHandler) (toolscache.ResourceEventHandlerRegistration, error)

	// AddEventHandlerWithResyncPeriod adds a handler that gets a resync after each resyncPeriod; never if it is zero.
	AddEventHandlerWithResyncPeriod(handler toolscache.ResourceEventHandler, resyncPeriod time.Duration) (toolscache.ResourceEventHandlerRegistration, error)

	// AddEventHandlerWithOptions adds a handler. A nil ResyncPeriod means the cache's SyncPeriod.
	AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, options toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error)

	// RemoveEventHandler removes a handler. Nothing is handed over to it afterwards, except for a call that is under
	// way. Removing it twice is no error. Watching ends with the last that uses it, see GetInformer.
	RemoveEventHandler(handle toolscache.ResourceEventHandlerRegistration) error

	// AddIndexers adds an index under each of the names. A List finds by them as by the fields of IndexField.
	AddIndexers(indexers toolscache.Indexers) error

	// HasSynced says whether the first list is complete.
	HasSynced() bool

	// HasSyncedChecker is done when the first list is complete. Its channel is closed by that event.
	HasSyncedChecker() toolscache.DoneChecker

	// IsStopped says whether the informer was removed or the cache has ended.
	IsStopped() bool
}

// InformerGetOption changes how an informer is got.
type InformerGetOption func(*InformerGetOptions)

// InformerGetOptions are the settings of GetInformer.
type InformerGetOptions struct {
	// BlockUntilSynced says whether to wait for the first list. Default: true.
	BlockUntilSynced *bool
}

// BlockUntilSynced says whether to wait for the first list.
func BlockUntilSynced(shouldBlock bool) InformerGetOption {
	return func(o *InformerGetOptions) { o.BlockUntilSynced = &shouldBlock }
}
