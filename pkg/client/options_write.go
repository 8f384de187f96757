package client

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// CreateOption changes how an object is created.
type CreateOption interface {
	// ApplyToCreate writes the option into opts.
	ApplyToCreate(opts *CreateOptions)
}

// CreateOptions are the settings of a Create. It is itself a CreateOption: what is set in it overrides.
type CreateOptions struct {
	// DryRun, when it is metav1.DryRunAll, makes the server go through all the steps without storing anything.
	DryRun []string

	// FieldManager is the name under which the fields are owned. Default: what the server makes of the user agent.
	FieldManager string

	// FieldValidation says what the server does about unknown and duplicate fields: metav1.FieldValidationIgnore, Warn or
	// Strict. Default: Warn.
	FieldValidation string

	// DisableReadYourWritesConsistency keeps the write from being told to the cache: reads from the cache see it when the
	// watch brings it.
	DisableReadYourWritesConsistency bool

	// Raw is sent to the API server, with the fields above written over it.
	Raw *metav1.CreateOptions
}

var _ CreateOption = &CreateOptions{}

// AsCreateOptions returns what is sent to the API server. Raw is copied, not changed.
func (o *CreateOptions) AsCreateOptions() *metav1.CreateOptions {
	out := &metav1.CreateOptions{}
	if o == nil {
		return out
	}
	if o.Raw != nil {
		*out = *o.Raw
	}
	overlay(&out.DryRun, o.DryRun)
	overlayString(&out.FieldManager, o.FieldManager)
	overlayString(&out.FieldValidation, o.FieldValidation)
	return out
}

// ApplyOptions applies opts in their order and returns o.
func (o *CreateOptions) ApplyOptions(opts []CreateOption) *CreateOptions {
	for _, opt := range opts {
		opt.ApplyToCreate(o)
	}
	return o
}

// ApplyToCreate implements CreateOption.
func (o *CreateOptions) ApplyToCreate(co *CreateOptions) {
	overlay(&co.DryRun, o.DryRun)
	overlayString(&co.FieldManager, o.FieldManager)
	overlayString(&co.FieldValidation, o.FieldValidation)
	co.DisableReadYourWritesConsistency = co.DisableReadYourWritesConsistency || o.DisableReadYourWritesConsistency
	if o.Raw != nil {
		co.Raw = o.Raw
	}
}

// UpdateOption changes how an object is updated.
type UpdateOption interface {
	// ApplyToUpdate writes the option into opts.
	ApplyToUpdate(opts *UpdateOptions)
}

// UpdateOptions are the settings of an Update. It is itself an UpdateOption: what is set in it overrides.
type UpdateOptions struct {
	// DryRun, when it is metav1.DryRunAll, makes the server go through all the steps without storing anything.
	DryRun []string

	// FieldManager is the name under which the fields are owned. Default: what the server makes of the user agent.
	FieldManager string

	// FieldValidation says what the server does about unknown and duplicate fields: metav1.FieldValidationIgnore, Warn or
	// Strict. Default: Warn.
	FieldValidation string

	// DisableReadYourWritesConsistency keeps the write from being told to the cache: reads from the cache see it when the
	// watch brings it.
	DisableReadYourWritesConsistency bool

	// Raw is sent to the API server, with the fields above written over it.
	Raw *metav1.UpdateOptions
}

var _ UpdateOption = &UpdateOptions{}

// AsUpdateOptions returns what is sent to the API server. Raw is copied, not changed.
func (o *UpdateOptions) AsUpdateOptions() *metav1.UpdateOptions {
	out := &metav1.UpdateOptions{}
	if o == nil {
		return out
	}
	if o.Raw != nil {
		*out = *o.Raw
	}
	overlay(&out.DryRun, o.DryRun)
	overlayString(&out.FieldManager, o.FieldManager)
	overlayString(&out.FieldValidation, o.FieldValidation)
	return out
}

// ApplyOptions applies opts in their order and returns o.
func (o *UpdateOptions) ApplyOptions(opts []UpdateOption) *UpdateOptions {
	for _, opt := range opts {
		opt.ApplyToUpdate(o)
	}
	return o
}

// ApplyToUpdate implements UpdateOption.
func (o *UpdateOptions) ApplyToUpdate(uo *UpdateOptions) {
	overlay(&uo.DryRun, o.DryRun)
	overlayString(&uo.FieldManager, o.FieldManager)
	overlayString(&uo.FieldValidation, o.FieldValidation)
	uo.DisableReadYourWritesConsistency = uo.DisableReadYourWritesConsistency || o.DisableReadYourWritesConsistency
	if o.Raw != nil {
		uo.Raw = o.Raw
	}
}

// PatchOption changes how an object is patched.
type PatchOption interface {
	// ApplyToPatch writes the option into opts.
	ApplyToPatch(opts *PatchOptions)
}

// PatchOptions are the settings of a Patch. It is itself a PatchOption: what is set in it overrides.
type PatchOptions struct {
	// DryRun, when it is metav1.DryRunAll, makes the server go through all the steps without storing anything.
	DryRun []string

	// Force makes an apply patch take over fields that others own instead of failing with a conflict. It must be nil for
	// every other kind of patch.
	Force *bool

	// FieldManager is the name under which the fields are owned. An apply patch requires it. Default: what the server makes
	// of the user agent.
	FieldManager string

	// FieldValidation says what the server does about unknown and duplicate fields: metav1.FieldValidationIgnore, Warn or
	// Strict. Default: Warn.
	FieldValidation string

	// DisableReadYourWritesConsistency keeps the write from being told to the cache: reads from the cache see it when the
	// watch brings it.
	DisableReadYourWritesConsistency bool

	// Raw is sent to the API server, with the fields above written over it.
	Raw *metav1.PatchOptions
}

var _ PatchOption = &PatchOptions{}

// AsPatchOptions returns what is sent to the API server. Raw is copied, not changed.
func (o *PatchOptions) AsPatchOptions() *metav1.PatchOptions {
	out := &metav1.PatchOptions{}
	if o == nil {
		return out
	}
	if o.Raw != nil {
		*out = *o.Raw
	}
	overlay(&out.DryRun, o.DryRun)
	if o.Force != nil {
		out.Force = o.Force
	}
	overlayString(&out.FieldManager, o.FieldManager)
	overlayString(&out.FieldValidation, o.FieldValidation)
	return out
}

// ApplyOptions applies opts in their order and returns o.
func (o *PatchOptions) ApplyOptions(opts []PatchOption) *PatchOptions {
	for _, opt := range opts {
		opt.ApplyToPatch(o)
	}
	return o
}

// ApplyToPatch implements PatchOption.
func (o *PatchOptions) ApplyToPatch(po *PatchOptions) {
	overlay(&po.DryRun, o.DryRun)
	if o.Force != nil {
		po.Force = o.Force
	}
	overlayString(&po.FieldManager, o.FieldManager)
	overlayString(&po.FieldValidation, o.FieldValidation)
	po.DisableReadYourWritesConsistency = po.DisableReadYourWritesConsistency || o.DisableReadYourWritesConsistency
	if o.Raw != nil {
		po.Raw = o.Raw
	}
}

// ApplyOption changes how an apply configuration is applied.
type ApplyOption interface {
	// ApplyToApply writes the option into opts.
	ApplyToApply(opts *ApplyOptions)
}

// ApplyOptions are the settings of an Apply. It is itself an ApplyOption: what is set in it overrides.
type ApplyOptions struct {
	// DryRun, when it is metav1.DryRunAll, makes the server go through all the steps without storing anything.
	DryRun []string

	// Force takes over fields that others own. Without it, such fields are a conflict.
	Force *bool

	// FieldManager is the name under which the fields are owned. It is required.
	FieldManager string

	// DisableReadYourWritesConsistency keeps the write from being told to the cache: reads from the cache see it when the
	// watch brings it.
	DisableReadYourWritesConsistency bool
}

var _ ApplyOption = &ApplyOptions{}

// AsPatchOptions returns what is sent to the API server.
func (o *ApplyOptions) AsPatchOptions() *metav1.PatchOptions {
	return &metav1.PatchOptions{DryRun: o.DryRun, Force: o.Force, FieldManager: o.FieldManager}
}

// ApplyOptions applies opts in their order and returns o.
func (o *ApplyOptions) ApplyOptions(opts []ApplyOption) *ApplyOptions {
	for _, opt := range opts {
		opt.ApplyToApply(o)
	}
	return o
}

// ApplyToApply implements ApplyOption.
func (o *ApplyOptions) ApplyToApply(opts *ApplyOptions) {
	overlay(&opts.DryRun, o.DryRun)
	if o.Force != nil {
		opts.Force = o.Force
	}
	overlayString(&opts.FieldManager, o.FieldManager)
	opts.DisableReadYourWritesConsistency = opts.DisableReadYourWritesConsistency || o.DisableReadYourWritesConsistency
}

func overlay(dst *[]string, src []string) {
	if src != nil {
		*dst = src
	}
}

func overlayString(dst *string, src string) {
	if src != "" {
		*dst = src
	}
}
