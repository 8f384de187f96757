package controllerutil

import (
	"context"
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// OperationResult is what CreateOrUpdate or CreateOrPatch did.
type OperationResult string

const (
	// OperationResultNone says that the object was as wanted.
	OperationResultNone OperationResult = "unchanged"
	// OperationResultCreated says that the object was created.
	OperationResultCreated OperationResult = "created"
	// OperationResultUpdated says that the object was changed, apart from its status.
	OperationResultUpdated OperationResult = "updated"
	// OperationResultUpdatedStatus says that the object and its status were changed.
	OperationResultUpdatedStatus OperationResult = "updatedStatus"
	// OperationResultUpdatedStatusOnly says that the status was changed, and nothing else.
	OperationResultUpdatedStatusOnly OperationResult = "updatedStatusOnly"
)

// MutateFn brings the object, which it knows from where it is declared, into the wanted state. It must not change the
// object's name or namespace.
type MutateFn func() error

// CreateOrUpdate reads the object that obj names into obj, calls f to change it, and updates it if that made a difference.
// If there is no such object, f is called on obj as it is, and obj is created. A nil f changes nothing.
//
// Only the name and namespace of obj count when it is called; all else is overwritten by what is read. What f does to the
// status or another subresource is not written. Where f sets a field to a value that the server replaces by a default, every
// call updates the object: set the default itself.
//
// The error for an object that was changed between the read and the write satisfies apierrors.IsConflict.
func CreateOrUpdate(ctx context.Context, c client.Client, obj client.Object, f MutateFn) (OperationResult, error) {
	before, err := readAndMutate(ctx, c, obj, f)
	if err != nil {
		return OperationResultNone, err
	}
	if before == nil {
		return created(c.Create(ctx, obj))
	}
	if equality.Semantic.DeepEqual(before, obj) {
		return OperationResultNone, nil
	}
	if err := c.Update(ctx, obj); err != nil {
		return OperationResultNone, err
	}
	return OperationResultUpdated, nil
}

// CreateOrPatch reads the object that obj names into obj, calls f to change it, and patches what f has changed: the object
// and, with a request of its own, the status. If there is no such object, f is called on obj as it is, and obj is created,
// without its status. A nil f changes nothing.
//
// Only the name and namespace of obj count when it is called; all else is overwritten by what is read. What f does to
// subresources other than the status is not written. Where f sets a field to a value that the server replaces by a default,
// every call patches the object: set the default itself.
func CreateOrPatch(ctx context.Context, c client.Client, obj client.Object, f MutateFn) (OperationResult, error) {
	before, err := readAndMutate(ctx, c, obj, f)
	if err != nil {
		return OperationResultNone, err
	}
	if before == nil {
		return created(c.Create(ctx, obj))
	}
	was, wasStatus, err := split(before)
	if err != nil {
		return OperationResultNone, err
	}
	wanted, wantedStatus, err := split(obj)
	if err != nil {
		return OperationResultNone, err
	}
	statusPatch, err := patchOfStatus(wasStatus, wantedStatus)
	if err != nil {
		return OperationResultNone, err
	}

	result := OperationResultNone
	if !equality.Semantic.DeepEqual(was, wanted) {
		if err := c.Patch(ctx, obj, client.MergeFrom(before)); err != nil {
			return result, err
		}
		result = OperationResultUpdated
	}
	if statusPatch == nil {
		return result, nil
	}
	if err := c.Status().Patch(ctx, obj, statusPatch); err != nil {
		return result, err
	}
	if result == OperationResultUpdated {
		return OperationResultUpdatedStatus, nil
	}
	return OperationResultUpdatedStatusOnly, nil
}

func created(err error) (OperationResult, error) {
	if err != nil {
		return OperationResultNone, err
	}
	return OperationResultCreated, nil
}

// readAndMutate reads obj, calls f on it, and returns obj as it was read: nil if it is not there.
func readAndMutate(ctx context.Context, c client.Client, obj client.Object, f MutateFn) (client.Object, error) {
	key := client.ObjectKeyFromObject(obj)
	var before client.Object
	switch err := c.Get(ctx, key, obj); {
	case err == nil:
		before = obj.DeepCopyObject().(client.Object)
	case !apierrors.IsNotFound(err):
		return nil, err
	}
	if f == nil {
		return before, nil
	}
	if err := f(); err != nil {
		return nil, err
	}
	if now := client.ObjectKeyFromObject(obj); now != key {
		return nil, fmt.Errorf("%T %s: the MutateFn made it %s, and an object cannot change its name or namespace", obj, key, now)
	}
	return before, nil
}

// split returns the fields of obj without the status, and the status.
func split(obj client.Object) (fields map[string]any, status any, err error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, nil, fmt.Errorf("%T %s: %w", obj, client.ObjectKeyFromObject(obj), err)
	}
	fields = make(map[string]any, len(content))
	for name, value := range content {
		if name == "status" {
			status = value
		} else {
			fields[name] = value
		}
	}
	return fields, status, nil
}

// patchOfStatus returns the patch that makes one status the other: nil if they are the same. It is made out of the
// statuses alone, because by the time it is sent the object may be a newer one.
func patchOfStatus(was, wanted any) (client.Patch, error) {
	if equality.Semantic.DeepEqual(was, wanted) {
		return nil, nil
	}
	before, err := json.Marshal(map[string]any{"status": was})
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(map[string]any{"status": wanted})
	if err != nil {
		return nil, err
	}
	data, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return nil, err
	}
	return client.RawPatch(types.MergePatchType, data), nil
}
