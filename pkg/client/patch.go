package client

import (
	"encoding/json"
	"fmt"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Patch is a change to an object, made out when it is sent.
type Patch interface {
	// Type is the kind of patch that Data returns.
	Type() types.PatchType
	// Data returns the patch as it is sent. obj is the object given to the Patch call: the state that is wanted. It is not
	// changed.
	Data(obj Object) ([]byte, error)
}

var (
	// Apply sends the whole object as a server-side apply patch.
	//
	// Deprecated: an object cannot say which of its zero values are wanted. Use the Apply method of a client, with an apply
	// configuration.
	Apply Patch = applyPatch{}

	// Merge sends the whole object as a JSON merge patch. MergeFrom sends what has changed.
	Merge Patch = mergePatch{}
)

type applyPatch struct{}

func (applyPatch) Type() types.PatchType           { return types.ApplyPatchType }
func (applyPatch) Data(obj Object) ([]byte, error) { return json.Marshal(obj) }

type mergePatch struct{}

func (mergePatch) Type() types.PatchType           { return types.MergePatchType }
func (mergePatch) Data(obj Object) ([]byte, error) { return json.Marshal(obj) }

// RawPatch returns a patch that is sent as it is: a JSON patch (types.JSONPatchType), a merge patch or any other.
func RawPatch(patchType types.PatchType, data []byte) Patch {
	return rawPatch{patchType: patchType, data: data}
}

type rawPatch struct {
	patchType types.PatchType
	data      []byte
}

func (p rawPatch) Type() types.PatchType       { return p.patchType }
func (p rawPatch) Data(Object) ([]byte, error) { return p.data, nil }

// MergeFromOption changes how a patch is made out of two states of an object.
type MergeFromOption interface {
	// ApplyToMergeFrom writes the option into opts.
	ApplyToMergeFrom(opts *MergeFromOptions)
}

// MergeFromOptions are the settings of MergeFromWithOptions and StrategicMergeFrom.
type MergeFromOptions struct {
	// OptimisticLock puts the resourceVersion of the object patched from into the patch: the server answers 409 Conflict if
	// the object has changed since.
	OptimisticLock bool
}

// MergeFromWithOptimisticLock makes a patch fail with a conflict if the object has changed since it was read, as an
// Update would; unlike an Update, it leaves fields alone that the Go type does not know.
type MergeFromWithOptimisticLock struct{}

// ApplyToMergeFrom implements MergeFromOption.
func (MergeFromWithOptimisticLock) ApplyToMergeFrom(opts *MergeFromOptions) {
	opts.OptimisticLock = true
}

// MergeFrom returns a patch that turns obj into the object given to the Patch call, as a JSON merge patch: a list that
// has changed in any way is sent whole. obj is not copied, so it must be a copy of the object that is then changed:
//
//	base := pod.DeepCopy()
//	pod.Labels["seen"] = "yes"
//	err := c.Patch(ctx, pod, client.MergeFrom(base))
func MergeFrom(obj Object) Patch {
	return mergeFrom{base: obj, patchType: types.MergePatchType}
}

// MergeFromWithOptions is MergeFrom with options.
func MergeFromWithOptions(obj Object, opts ...MergeFromOption) Patch {
	return mergeFrom{base: obj, patchType: types.MergePatchType, opts: mergeFromOptions(opts)}
}

// StrategicMergeFrom returns a patch that turns obj into the object given to the Patch call, as a strategic merge patch:
// where the API type names a merge key for a list, only the items that have changed are sent. The server does not take
// it for custom resources.
func StrategicMergeFrom(obj Object, opts ...MergeFromOption) Patch {
	return mergeFrom{base: obj, patchType: types.StrategicMergePatchType, opts: mergeFromOptions(opts)}
}

func mergeFromOptions(opts []MergeFromOption) MergeFromOptions {
	var o MergeFromOptions
	for _, opt := range opts {
		opt.ApplyToMergeFrom(&o)
	}
	return o
}

// mergeFrom is a patch made out of the difference between two states.
type mergeFrom struct {
	base      Object
	patchType types.PatchType
	opts      MergeFromOptions
}

func (p mergeFrom) Type() types.PatchType { return p.patchType }

func (p mergeFrom) Data(obj Object) ([]byte, error) {
	base := p.base
	if p.opts.OptimisticLock {
		version := base.GetResourceVersion()
		if version == "" {
			return nil, fmt.Errorf("%T %s: an optimistic lock needs a resourceVersion, and the object patched from has none",
				base, ObjectKeyFromObject(base))
		}
		// Only what differs gets into the patch: the version must be in one state and not in the other.
		base = base.DeepCopyObject().(Object)
		base.SetResourceVersion("")
		obj = obj.DeepCopyObject().(Object)
		obj.SetResourceVersion(version)
	}
	before, err := json.Marshal(base)
	if err != nil {
		return nil, err
	}
	after, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	if p.patchType == types.StrategicMergePatchType {
		return strategicpatch.CreateTwoWayMergePatch(before, after, obj)
	}
	return jsonpatch.CreateMergePatch(before, after)
}
