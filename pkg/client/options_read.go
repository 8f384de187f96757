package client

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GetOption changes how one object is read.
type GetOption interface {
	// ApplyToGet writes the option into opts.
	ApplyToGet(opts *GetOptions)
}

// GetOptions are the settings of a Get. It is itself a GetOption: what is set in it overrides.
type GetOptions struct {
	// Raw is sent to the API server as it is. A cache does not look at it.
	Raw *metav1.GetOptions

	// UnsafeDisableDeepCopy lets a cache put shared data into the object instead of a copy. The caller must then not change
	// anything in it. It means nothing to reads from the API server. Default: a copy.
	UnsafeDisableDeepCopy *bool

	// DisableReadYourWritesConsistency is accepted for compatibility. Reads never wait for writes to arrive in the cache,
	// so that there is nothing to disable.
	DisableReadYourWritesConsistency bool
}

var _ GetOption = &GetOptions{}

// ApplyToGet implements GetOption.
func (o *GetOptions) ApplyToGet(lo *GetOptions) {
	if o.Raw != nil {
		lo.Raw = o.Raw
	}
	if o.UnsafeDisableDeepCopy != nil {
		lo.UnsafeDisableDeepCopy = o.UnsafeDisableDeepCopy
	}
	if o.DisableReadYourWritesConsistency {
		lo.DisableReadYourWritesConsistency = true
	}
}

// AsGetOptions returns what is sent to the API server.
func (o *GetOptions) AsGetOptions() *metav1.GetOptions {
	if o == nil || o.Raw == nil {
		return &metav1.GetOptions{}
	}
	return o.Raw
}

// ApplyOptions applies opts in their order and returns o.
func (o *GetOptions) ApplyOptions(opts []GetOption) *GetOptions {
	for _, opt := range opts {
		opt.ApplyToGet(o)
	}
	return o
}

// ListOption changes what is listed.
type ListOption interface {
	// ApplyToList writes the option into opts.
	ApplyToList(opts *ListOptions)
}

// ListOptions are the settings of a List, a Watch or a DeleteAllOf. It is itself a ListOption: what is set in it
// overrides.
type ListOptions struct {
	// LabelSelector selects by labels. Default: everything.
	LabelSelector labels.Selector
	// FieldSelector selects by fields: those the API server offers for the kind, or, for a List from a cache, those that
	// an index has been added for. Default: everything.
	FieldSelector fields.Selector

	// Namespace restricts the call to one namespace. Empty means all namespaces, and is the value for cluster-scoped kinds.
	Namespace string

	// Limit is the largest number of objects to return; the list's Continue then says where the next part begins. Zero
	// means no limit.
	Limit int64
	// Continue is the token of the part to return, from the list before. The server answers 410 Gone when it is too old.
	Continue string

	// UnsafeDisableDeepCopy lets a cache return shared objects instead of copies. The caller must then not change anything
	// in them. It means nothing to reads from the API server. Default: copies.
	UnsafeDisableDeepCopy *bool

	// DisableReadYourWritesConsistency is accepted for compatibility. Reads never wait for writes to arrive in the cache,
	// so that there is nothing to disable.
	DisableReadYourWritesConsistency bool

	// Raw is sent to the API server, with the fields above written over it. A cache does not look at it.
	Raw *metav1.ListOptions
}

var _ ListOption = &ListOptions{}

// ApplyToList implements ListOption.
func (o *ListOptions) ApplyToList(lo *ListOptions) {
	if o.LabelSelector != nil {
		lo.LabelSelector = o.LabelSelector
	}
	if o.FieldSelector != nil {
		lo.FieldSelector = o.FieldSelector
	}
	if o.Namespace != "" {
		lo.Namespace = o.Namespace
	}
	if o.Limit > 0 {
		lo.Limit = o.Limit
	}
	if o.Continue != "" {
		lo.Continue = o.Continue
	}
	if o.UnsafeDisableDeepCopy != nil {
		lo.UnsafeDisableDeepCopy = o.UnsafeDisableDeepCopy
	}
	if o.DisableReadYourWritesConsistency {
		lo.DisableReadYourWritesConsistency = true
	}
	if o.Raw != nil {
		lo.Raw = o.Raw
	}
}

// AsListOptions returns what is sent to the API server. Raw is copied, not changed. Its Limit and Continue are not used,
// unless it asks for a watch; its selectors are used where LabelSelector and FieldSelector are nil.
func (o *ListOptions) AsListOptions() *metav1.ListOptions {
	if o == nil {
		return &metav1.ListOptions{}
	}
	out := &metav1.ListOptions{}
	if o.Raw != nil {
		*out = *o.Raw
	}
	if o.LabelSelector != nil {
		out.LabelSelector = labelQuery(o.LabelSelector)
	}
	if o.FieldSelector != nil {
		out.FieldSelector = fieldQuery(o.FieldSelector)
	}
	if !out.Watch {
		out.Limit = o.Limit
		out.Continue = o.Continue
	}
	return out
}

// ApplyOptions applies opts in their order and returns o.
func (o *ListOptions) ApplyOptions(opts []ListOption) *ListOptions {
	for _, opt := range opts {
		opt.ApplyToList(o)
	}
	return o
}

// A selector that matches nothing has no written form: its String is empty, which a server takes for "everything". Sent
// as a contradiction, it means on the wire what it means in Go.
const (
	noLabelMatches = "nothing,!nothing"
	noFieldMatches = "metadata.name=nothing,metadata.name!=nothing"
)

func labelQuery(s labels.Selector) string {
	if q := s.String(); q != "" || s.Empty() {
		return q
	}
	return noLabelMatches
}

func fieldQuery(s fields.Selector) string {
	if q := s.String(); q != "" || s.Empty() {
		return q
	}
	return noFieldMatches
}
