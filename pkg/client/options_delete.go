package client

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DeleteOption changes how an object is deleted.
type DeleteOption interface {
	// ApplyToDelete writes the option into opts.
	ApplyToDelete(opts *DeleteOptions)
}

// DeleteOptions are the settings of a Delete. It is itself a DeleteOption: what is set in it overrides.
type DeleteOptions struct {
	// GracePeriodSeconds is the time the object is given to stop, in seconds. Zero deletes at once. Default: what the kind
	// or the object says.
	GracePeriodSeconds *int64

	// Preconditions must hold, or the server answers 409 Conflict.
	Preconditions *metav1.Preconditions

	// PropagationPolicy says what happens to the objects that this one owns: metav1.DeletePropagationOrphan, Background or
	// Foreground. Default: what the finalizers of the object and the kind say.
	PropagationPolicy *metav1.DeletionPropagation

	// DisableReadYourWritesConsistency keeps the deletion from being told to the cache: reads from the cache see it when the
	// watch brings it.
	DisableReadYourWritesConsistency bool

	// Raw is sent to the API server, with the other fields written over it.
	Raw *metav1.DeleteOptions

	// DryRun, when it is metav1.DryRunAll, makes the server go through all the steps without deleting anything.
	DryRun []string
}

var _ DeleteOption = &DeleteOptions{}

// AsDeleteOptions returns what is sent to the API server. Raw is copied, not changed.
func (o *DeleteOptions) AsDeleteOptions() *metav1.DeleteOptions {
	out := &metav1.DeleteOptions{}
	if o == nil {
		return out
	}
	if o.Raw != nil {
		*out = *o.Raw
	}
	if o.GracePeriodSeconds != nil {
		out.GracePeriodSeconds = o.GracePeriodSeconds
	}
	if o.Preconditions != nil {
		out.Preconditions = o.Preconditions
	}
	if o.PropagationPolicy != nil {
		out.PropagationPolicy = o.PropagationPolicy
	}
	overlay(&out.DryRun, o.DryRun)
	return out
}

// ApplyOptions applies opts in their order and returns o.
func (o *DeleteOptions) ApplyOptions(opts []DeleteOption) *DeleteOptions {
	for _, opt := range opts {
		opt.ApplyToDelete(o)
	}
	return o
}

// ApplyToDelete implements DeleteOption.
func (o *DeleteOptions) ApplyToDelete(do *DeleteOptions) {
	if o.GracePeriodSeconds != nil {
		do.GracePeriodSeconds = o.GracePeriodSeconds
	}
	if o.Preconditions != nil {
		do.Preconditions = o.Preconditions
	}
	if o.PropagationPolicy != nil {
		do.PropagationPolicy = o.PropagationPolicy
	}
	do.DisableReadYourWritesConsistency = do.DisableReadYourWritesConsistency || o.DisableReadYourWritesConsistency
	if o.Raw != nil {
		do.Raw = o.Raw
	}
	overlay(&do.DryRun, o.DryRun)
}

// DeleteAllOfOption changes which objects are deleted together, and how.
type DeleteAllOfOption interface {
	// ApplyToDeleteAllOf writes the option into opts.
	ApplyToDeleteAllOf(opts *DeleteAllOfOptions)
}

// DeleteAllOfOptions are the settings of a DeleteAllOf: which objects, and how to delete them. It is itself a
// DeleteAllOfOption: what is set in it overrides.
type DeleteAllOfOptions struct {
	ListOptions
	DeleteOptions
}

var _ DeleteAllOfOption = &DeleteAllOfOptions{}

// ApplyOptions applies opts in their order and returns o.
func (o *DeleteAllOfOptions) ApplyOptions(opts []DeleteAllOfOption) *DeleteAllOfOptions {
	for _, opt := range opts {
		opt.ApplyToDeleteAllOf(o)
	}
	return o
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (o *DeleteAllOfOptions) ApplyToDeleteAllOf(do *DeleteAllOfOptions) {
	o.ApplyToList(&do.ListOptions)
	o.ApplyToDelete(&do.DeleteOptions)
}
