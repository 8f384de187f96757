package client

// DisableReadYourWritesConsistency, given to a write, keeps the write from being told to the cache: a read from the
// cache sees it when the watch brings it. Given to a read it changes nothing, because no read waits for a write to
// arrive in the cache.
const DisableReadYourWritesConsistency = disableReadYourWritesConsistency(true)

type disableReadYourWritesConsistency bool

// ApplyToGet implements GetOption.
func (d disableReadYourWritesConsistency) ApplyToGet(opts *GetOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToList implements ListOption.
func (d disableReadYourWritesConsistency) ApplyToList(opts *ListOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToCreate implements CreateOption.
func (d disableReadYourWritesConsistency) ApplyToCreate(opts *CreateOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToUpdate implements UpdateOption.
func (d disableReadYourWritesConsistency) ApplyToUpdate(opts *UpdateOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToPatch implements PatchOption.
func (d disableReadYourWritesConsistency) ApplyToPatch(opts *PatchOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToApply implements ApplyOption.
func (d disableReadYourWritesConsistency) ApplyToApply(opts *ApplyOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToDelete implements DeleteOption.
func (d disableReadYourWritesConsistency) ApplyToDelete(opts *DeleteOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (d disableReadYourWritesConsistency) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) {
	d.ApplyToDelete(&opts.DeleteOptions)
}

// ApplyToSubResourceCreate implements SubResourceCreateOption.
func (d disableReadYourWritesConsistency) ApplyToSubResourceCreate(opts *SubResourceCreateOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToSubResourceUpdate implements SubResourceUpdateOption.
func (d disableReadYourWritesConsistency) ApplyToSubResourceUpdate(opts *SubResourceUpdateOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToSubResourcePatch implements SubResourcePatchOption.
func (d disableReadYourWritesConsistency) ApplyToSubResourcePatch(opts *SubResourcePatchOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}

// ApplyToSubResourceApply implements SubResourceApplyOption.
func (d disableReadYourWritesConsistency) ApplyToSubResourceApply(opts *SubResourceApplyOptions) {
	opts.DisableReadYourWritesConsistency = bool(d)
}
