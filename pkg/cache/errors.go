package cache

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ErrCacheNotStarted is the error of reads from a cache that has not been started.
type ErrCacheNotStarted struct{}

// Error implements error.
func (*ErrCacheNotStarted) Error() string {
	return "read from a cache that is not started: start it first, or read from the API"
}

// ErrResourceNotCached is the error of reads of a resource that is not watched, from a cache with
// ReaderFailOnMissingInformer.
type ErrResourceNotCached struct {
	// GVK is the kind that was to be read.
	GVK schema.GroupVersionKind
}

// Error implements error.
func (e ErrResourceNotCached) Error() string {
	return fmt.Sprintf("%s is not cached", e.GVK)
}

// ErrNamespaceNotCached is the error of reads in a namespace that is not among those the cache holds, or not yet
// ([AddNamespace]).
type ErrNamespaceNotCached struct {
	// Namespace is where something was to be read.
	Namespace string
}

// Error implements error.
func (e *ErrNamespaceNotCached) Error() string {
	return fmt.Sprintf("the cache does not hold namespace %q", e.Namespace)
}

// notFilled is the error of whoever waited for a list that did not come.
type notFilled struct {
	what  string
	cause error // of the feed; nil if it was merely slow
	ctx   error
}

// Error implements error.
func (e *notFilled) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("%s: not listed yet: %v", e.what, e.ctx)
	}
	return fmt.Sprintf("%s: not listed yet: %v", e.what, e.cause)
}

// Unwrap returns the context's error and what kept the list from coming; without that, a time-out in the API's terms.
func (e *notFilled) Unwrap() []error {
	cause := e.cause
	if cause == nil {
		cause = apierrors.NewTimeoutError(e.what+": not listed yet", 0)
	}
	return []error{e.ctx, cause}
}
