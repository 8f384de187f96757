package client

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// MatchingLabels selects the objects that have all these labels with these values. Several label options in one call
// narrow each other down.
type MatchingLabels map[string]string

// ApplyToList implements ListOption.
func (m MatchingLabels) ApplyToList(opts *ListOptions) {
	// The set is not validated here: a value that no object can have is for the server to refuse, or selects nothing.
	requirements, _ := labels.SelectorFromValidatedSet(labels.Set(m)).Requirements()
	opts.LabelSelector = and(opts.LabelSelector, requirements)
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (m MatchingLabels) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) {
	m.ApplyToList(&opts.ListOptions)
}

// HasLabels selects the objects that have labels of all these names, whatever the values. A name that no label can have
// selects nothing.
type HasLabels []string

// ApplyToList implements ListOption.
func (m HasLabels) ApplyToList(opts *ListOptions) {
	requirements := make([]labels.Requirement, 0, len(m))
	for _, name := range m {
		r, err := labels.NewRequirement(name, selection.Exists, nil)
		if err != nil {
			opts.LabelSelector = labels.Nothing()
			return
		}
		requirements = append(requirements, *r)
	}
	opts.LabelSelector = and(opts.LabelSelector, requirements)
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (m HasLabels) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) { m.ApplyToList(&opts.ListOptions) }

func and(s labels.Selector, requirements []labels.Requirement) labels.Selector {
	if s == nil {
		s = labels.NewSelector()
	}
	return s.Add(requirements...)
}

// MatchingLabelsSelector selects by a label selector, which replaces any from options before it. The zero value selects
// nothing.
type MatchingLabelsSelector struct {
	labels.Selector
}

// ApplyToList implements ListOption.
func (m MatchingLabelsSelector) ApplyToList(opts *ListOptions) {
	if m.Selector == nil {
		m.Selector = labels.Nothing()
	}
	opts.LabelSelector = m
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (m MatchingLabelsSelector) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) {
	m.ApplyToList(&opts.ListOptions)
}

// MatchingFields selects by the values of fields: those that the API server offers for the kind, or, in a cache, those
// that have been indexed.
type MatchingFields fields.Set

// ApplyToList implements ListOption.
func (m MatchingFields) ApplyToList(opts *ListOptions) {
	opts.FieldSelector = fields.Set(m).AsSelector()
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (m MatchingFields) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) {
	m.ApplyToList(&opts.ListOptions)
}

// MatchingFieldsSelector selects by a field selector. The zero value selects nothing.
type MatchingFieldsSelector struct {
	fields.Selector
}

// ApplyToList implements ListOption.
func (m MatchingFieldsSelector) ApplyToList(opts *ListOptions) {
	if m.Selector == nil {
		m.Selector = fields.Nothing()
	}
	opts.FieldSelector = m
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (m MatchingFieldsSelector) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) {
	m.ApplyToList(&opts.ListOptions)
}

// InNamespace restricts the call to one namespace. Empty means all.
type InNamespace string

// ApplyToList implements ListOption.
func (n InNamespace) ApplyToList(opts *ListOptions) { opts.Namespace = string(n) }

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (n InNamespace) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) { n.ApplyToList(&opts.ListOptions) }

// AsSelector returns the same restriction as a field selector.
func (n InNamespace) AsSelector() fields.Selector {
	return fields.SelectorFromSet(fields.Set{"metadata.namespace": string(n)})
}

// Limit is the largest number of objects that a List returns. Servers do not take it for deletions.
type Limit int64

// ApplyToList implements ListOption.
func (l Limit) ApplyToList(opts *ListOptions) { opts.Limit = int64(l) }

// Continue is the token, from the list before, of the part that a List returns. Servers do not take it for deletions.
type Continue string

// ApplyToList implements ListOption.
func (c Continue) ApplyToList(opts *ListOptions) { opts.Continue = string(c) }

// UnsafeDisableDeepCopyOption says whether a cache may return shared objects instead of copies.
type UnsafeDisableDeepCopyOption bool

// UnsafeDisableDeepCopy makes a cache return the objects it holds instead of copies of them. Whoever uses it must not
// change what is returned: it is shared with every other reader.
const UnsafeDisableDeepCopy = UnsafeDisableDeepCopyOption(true)

// ApplyToGet implements GetOption.
func (d UnsafeDisableDeepCopyOption) ApplyToGet(opts *GetOptions) {
	disable := bool(d)
	opts.UnsafeDisableDeepCopy = &disable
}

// ApplyToList implements ListOption.
func (d UnsafeDisableDeepCopyOption) ApplyToList(opts *ListOptions) {
	disable := bool(d)
	opts.UnsafeDisableDeepCopy = &disable
}
