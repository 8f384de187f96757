package client

// This file holds what a cache has to implement to hear of the client's own writes.

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// WriteObserver is a cached Reader that hears of the writes made by clients that read from it. A client whose
// CacheOptions.Reader implements it calls it from the goroutine that writes, after the server has accepted the write and
// before the call returns, so it must be quick, must not block, and must be safe for concurrent use. Dry-run requests,
// and writes made with DisableReadYourWritesConsistency, are not told.
type WriteObserver interface {
	// NeedsJSON reports whether the answer to a write of obj, whose kind is gvk, must be fetched whole and as JSON, because
	// a reader of the same resource holds more than obj's Go type can carry. It is not asked about apply configurations,
	// whose answers always are.
	NeedsJSON(gvk schema.GroupVersionKind, obj runtime.Object) bool

	// ObserveWrite tells of an object that was created, updated, patched or applied, itself or through a subresource that
	// answers with the whole object, or that has been marked for deletion.
	ObserveWrite(w Written)

	// ObserveDelete tells that the server has said the object with this UID is gone.
	ObserveDelete(gvk schema.GroupVersionKind, key ObjectKey, uid types.UID)
}

// SubresourceObserver is a [WriteObserver] that can find out for itself what became of an object by a write through a
// subresource that answers with something else: scale, eviction, binding. It is told where ObserveWrite has nothing to
// tell, under the same conditions, from the goroutine that writes and before the call returns, and may ask the API server.
type SubresourceObserver interface {
	WriteObserver

	// ObserveSubresource tells that the server has accepted a write to a subresource of the object.
	ObserveSubresource(ctx context.Context, gvk schema.GroupVersionKind, key ObjectKey)
}

// Written is what the server answered to a write.
type Written struct {
	// GVK is the kind of the object, also when it was written through a subresource.
	GVK schema.GroupVersionKind
	// Object is the decoded answer. It is shared with the caller of the write: an observer that keeps it must copy it. It
	// is nil when there is JSON only, as for apply configurations. A typed object may not say which kind it is.
	Object Object
	// JSON is the encoded answer, whole. It is nil unless the answer was JSON. The observer may keep it, and must not
	// change it.
	JSON []byte
}
