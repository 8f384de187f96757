package client

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// SubResourceGetOption changes how a subresource is read.
type SubResourceGetOption interface {
	// ApplyToSubResourceGet writes the option into opts.
	ApplyToSubResourceGet(opts *SubResourceGetOptions)
}

// SubResourceGetOptions are the settings of a subresource Get. It is itself a SubResourceGetOption.
type SubResourceGetOptions struct {
	// Raw is sent to the API server as it is.
	Raw *metav1.GetOptions
}

var _ SubResourceGetOption = &SubResourceGetOptions{}

// ApplyToSubResourceGet implements SubResourceGetOption.
func (getOpt *SubResourceGetOptions) ApplyToSubResourceGet(o *SubResourceGetOptions) {
	if getOpt.Raw != nil {
		o.Raw = getOpt.Raw
	}
}

// ApplyOptions applies opts in their order and returns getOpt.
func (getOpt *SubResourceGetOptions) ApplyOptions(opts []SubResourceGetOption) *SubResourceGetOptions {
	for _, opt := range opts {
		opt.ApplyToSubResourceGet(getOpt)
	}
	return getOpt
}

// AsGetOptions returns what is sent to the API server.
func (getOpt *SubResourceGetOptions) AsGetOptions() *metav1.GetOptions {
	if getOpt.Raw == nil {
		return &metav1.GetOptions{}
	}
	return getOpt.Raw
}

// SubResourceCreateOption changes how a subresource is created.
type SubResourceCreateOption interface {
	// ApplyToSubResourceCreate writes the option into opts.
	ApplyToSubResourceCreate(opts *SubResourceCreateOptions)
}

// SubResourceCreateOptions are the settings of a subresource Create. It is itself a SubResourceCreateOption: what is set
// in it overrides.
type SubResourceCreateOptions struct {
	CreateOptions
}

var _ SubResourceCreateOption = &SubResourceCreateOptions{}

// ApplyOptions applies opts in their order and returns co.
func (co *SubResourceCreateOptions) ApplyOptions(opts []SubResourceCreateOption) *SubResourceCreateOptions {
	for _, opt := range opts {
		opt.ApplyToSubResourceCreate(co)
	}
	return co
}

// ApplyToSubResourceCreate implements SubResourceCreateOption.
func (co *SubResourceCreateOptions) ApplyToSubResourceCreate(o *SubResourceCreateOptions) {
	co.ApplyToCreate(&o.CreateOptions)
}

// SubResourceUpdateOption changes how a subresource is updated.
type SubResourceUpdateOption interface {
	// ApplyToSubResourceUpdate writes the option into opts.
	ApplyToSubResourceUpdate(opts *SubResourceUpdateOptions)
}

// SubResourceUpdateOptions are the settings of a subresource Update. It is itself a SubResourceUpdateOption: what is set
// in it overrides.
type SubResourceUpdateOptions struct {
	UpdateOptions
	// SubResourceBody is what is sent and receives the answer. Default: the object whose subresource it is.
	SubResourceBody Object
}

var _ SubResourceUpdateOption = &SubResourceUpdateOptions{}

// ApplyToSubResourceUpdate implements SubResourceUpdateOption.
func (uo *SubResourceUpdateOptions) ApplyToSubResourceUpdate(o *SubResourceUpdateOptions) {
	uo.ApplyToUpdate(&o.UpdateOptions)
	if uo.SubResourceBody != nil {
		o.SubResourceBody = uo.SubResourceBody
	}
}

// ApplyOptions applies opts in their order and returns uo.
func (uo *SubResourceUpdateOptions) ApplyOptions(opts []SubResourceUpdateOption) *SubResourceUpdateOptions {
	for _, opt := range opts {
		opt.ApplyToSubResourceUpdate(uo)
	}
	return uo
}

// SubResourcePatchOption changes how a subresource is patched.
type SubResourcePatchOption interface {
	// ApplyToSubResourcePatch writes the option into opts.
	ApplyToSubResourcePatch(opts *SubResourcePatchOptions)
}

// SubResourcePatchOptions are the settings of a subresource Patch. It is itself a SubResourcePatchOption: what is set in
// it overrides.
type SubResourcePatchOptions struct {
	PatchOptions
	// SubResourceBody is what the patch is made from and what receives the answer. Default: the object whose subresource
	// it is.
	SubResourceBody Object
}

var _ SubResourcePatchOption = &SubResourcePatchOptions{}

// ApplyOptions applies opts in their order and returns po.
func (po *SubResourcePatchOptions) ApplyOptions(opts []SubResourcePatchOption) *SubResourcePatchOptions {
	for _, opt := range opts {
		opt.ApplyToSubResourcePatch(po)
	}
	return po
}

// ApplyToSubResourcePatch implements SubResourcePatchOption.
func (po *SubResourcePatchOptions) ApplyToSubResourcePatch(o *SubResourcePatchOptions) {
	po.ApplyToPatch(&o.PatchOptions)
	if po.SubResourceBody != nil {
		o.SubResourceBody = po.SubResourceBody
	}
}

// SubResourceApplyOption changes how a subresource is applied.
type SubResourceApplyOption interface {
	// ApplyToSubResourceApply writes the option into opts.
	ApplyToSubResourceApply(opts *SubResourceApplyOptions)
}

// SubResourceApplyOptions are the settings of a subresource Apply. It is itself a SubResourceApplyOption: what is set in
// it overrides.
type SubResourceApplyOptions struct {
	ApplyOptions
	// SubResourceBody is what is sent and receives the answer. Default: the apply configuration that names the object.
	SubResourceBody runtime.ApplyConfiguration
}

var _ SubResourceApplyOption = &SubResourceApplyOptions{}

// ApplyOpts applies opts in their order and returns ao.
func (ao *SubResourceApplyOptions) ApplyOpts(opts []SubResourceApplyOption) *SubResourceApplyOptions {
	for _, opt := range opts {
		opt.ApplyToSubResourceApply(ao)
	}
	return ao
}

// ApplyToSubResourceApply implements SubResourceApplyOption.
func (ao *SubResourceApplyOptions) ApplyToSubResourceApply(o *SubResourceApplyOptions) {
	ao.ApplyToApply(&o.ApplyOptions)
	if ao.SubResourceBody != nil {
		o.SubResourceBody = ao.SubResourceBody
	}
}

// SubResourceUpdateAndPatchOption is an option of both Update and Patch of a subresource.
type SubResourceUpdateAndPatchOption interface {
	SubResourceUpdateOption
	SubResourcePatchOption
}

// WithSubResourceBody makes Update and Patch of a subresource send body, and put the answer there, instead of the object
// whose subresource it is: the Scale of a Deployment, for instance.
func WithSubResourceBody(body Object) SubResourceUpdateAndPatchOption {
	return subResourceBody{body}
}

type subResourceBody struct{ body Object }

func (b subResourceBody) ApplyToSubResourceUpdate(o *SubResourceUpdateOptions) {
	o.SubResourceBody = b.body
}

func (b subResourceBody) ApplyToSubResourcePatch(o *SubResourcePatchOptions) {
	o.SubResourceBody = b.body
}
