package controllerutil

import (
	"slices"

	"github.com/operon-dev/operon/pkg/client"
)

// AddFinalizer adds finalizer to o unless it is there, and tells whether it did.
func AddFinalizer(o client.Object, finalizer string) (finalizersUpdated bool) {
	if ContainsFinalizer(o, finalizer) {
		return false
	}
	// A copy, because the slice may be shared with an object in a cache.
	o.SetFinalizers(append(slices.Clone(o.GetFinalizers()), finalizer))
	return true
}

// RemoveFinalizer removes finalizer from o, and tells whether it was there.
func RemoveFinalizer(o client.Object, finalizer string) (finalizersUpdated bool) {
	if !ContainsFinalizer(o, finalizer) {
		return false
	}
	o.SetFinalizers(slices.DeleteFunc(slices.Clone(o.GetFinalizers()), func(f string) bool { return f == finalizer }))
	return true
}

// ContainsFinalizer tells whether o has finalizer.
func ContainsFinalizer(o client.Object, finalizer string) bool {
	return slices.Contains(o.GetFinalizers(), finalizer)
}
