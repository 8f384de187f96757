package client

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DryRunAll makes a write a dry run: the server goes through all the steps, admission and validation included, answers
// as it would, and stores nothing.
var DryRunAll = dryRunAll{}

type dryRunAll struct{}

func dryRun() []string { return []string{metav1.DryRunAll} }

// ApplyToCreate implements CreateOption.
func (dryRunAll) ApplyToCreate(opts *CreateOptions) { opts.DryRun = dryRun() }

// ApplyToUpdate implements UpdateOption.
func (dryRunAll) ApplyToUpdate(opts *UpdateOptions) { opts.DryRun = dryRun() }

// ApplyToPatch implements PatchOption.
func (dryRunAll) ApplyToPatch(opts *PatchOptions) { opts.DryRun = dryRun() }

// ApplyToApply implements ApplyOption.
func (dryRunAll) ApplyToApply(opts *ApplyOptions) { opts.DryRun = dryRun() }

// ApplyToDelete implements DeleteOption.
func (dryRunAll) ApplyToDelete(opts *DeleteOptions) { opts.DryRun = dryRun() }

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (dryRunAll) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) { opts.DryRun = dryRun() }

// ApplyToSubResourceCreate implements SubResourceCreateOption.
func (dryRunAll) ApplyToSubResourceCreate(opts *SubResourceCreateOptions) { opts.DryRun = dryRun() }

// ApplyToSubResourceUpdate implements SubResourceUpdateOption.
func (dryRunAll) ApplyToSubResourceUpdate(opts *SubResourceUpdateOptions) { opts.DryRun = dryRun() }

// ApplyToSubResourcePatch implements SubResourcePatchOption.
func (dryRunAll) ApplyToSubResourcePatch(opts *SubResourcePatchOptions) { opts.DryRun = dryRun() }

// ApplyToSubResourceApply implements SubResourceApplyOption.
func (dryRunAll) ApplyToSubResourceApply(opts *SubResourceApplyOptions) { opts.DryRun = dryRun() }

// FieldOwner is the name under which the fields of a write are owned. Apply requires it.
type FieldOwner string

// ApplyToCreate implements CreateOption.
func (f FieldOwner) ApplyToCreate(opts *CreateOptions) { opts.FieldManager = string(f) }

// ApplyToUpdate implements UpdateOption.
func (f FieldOwner) ApplyToUpdate(opts *UpdateOptions) { opts.FieldManager = string(f) }

// ApplyToPatch implements PatchOption.
func (f FieldOwner) ApplyToPatch(opts *PatchOptions) { opts.FieldManager = string(f) }

// ApplyToApply implements ApplyOption.
func (f FieldOwner) ApplyToApply(opts *ApplyOptions) { opts.FieldManager = string(f) }

// ApplyToSubResourceCreate implements SubResourceCreateOption.
func (f FieldOwner) ApplyToSubResourceCreate(opts *SubResourceCreateOptions) {
	opts.FieldManager = string(f)
}

// ApplyToSubResourceUpdate implements SubResourceUpdateOption.
func (f FieldOwner) ApplyToSubResourceUpdate(opts *SubResourceUpdateOptions) {
	opts.FieldManager = string(f)
}

// ApplyToSubResourcePatch implements SubResourcePatchOption.
func (f FieldOwner) ApplyToSubResourcePatch(opts *SubResourcePatchOptions) {
	opts.FieldManager = string(f)
}

// ApplyToSubResourceApply implements SubResourceApplyOption.
func (f FieldOwner) ApplyToSubResourceApply(opts *SubResourceApplyOptions) {
	opts.FieldManager = string(f)
}

// FieldValidation says what the server does about unknown and duplicate fields in a write: metav1.FieldValidationIgnore,
// Warn or Strict.
type FieldValidation string

// ApplyToCreate implements CreateOption.
func (f FieldValidation) ApplyToCreate(opts *CreateOptions) { opts.FieldValidation = string(f) }

// ApplyToUpdate implements UpdateOption.
func (f FieldValidation) ApplyToUpdate(opts *UpdateOptions) { opts.FieldValidation = string(f) }

// ApplyToPatch implements PatchOption.
func (f FieldValidation) ApplyToPatch(opts *PatchOptions) { opts.FieldValidation = string(f) }

// ApplyToSubResourceCreate implements SubResourceCreateOption.
func (f FieldValidation) ApplyToSubResourceCreate(opts *SubResourceCreateOptions) {
	opts.FieldValidation = string(f)
}

// ApplyToSubResourceUpdate implements SubResourceUpdateOption.
func (f FieldValidation) ApplyToSubResourceUpdate(opts *SubResourceUpdateOptions) {
	opts.FieldValidation = string(f)
}

// ApplyToSubResourcePatch implements SubResourcePatchOption.
func (f FieldValidation) ApplyToSubResourcePatch(opts *SubResourcePatchOptions) {
	opts.FieldValidation = string(f)
}

// ForceOwnership makes an apply take over the fields that others own, instead of failing with a conflict. It is what a
// controller usually wants for the fields it is there to set.
var ForceOwnership = forceOwnership{}

type forceOwnership struct{}

func force() *bool {
	yes := true
	return &yes
}

// ApplyToPatch implements PatchOption.
func (forceOwnership) ApplyToPatch(opts *PatchOptions) { opts.Force = force() }

// ApplyToApply implements ApplyOption.
func (forceOwnership) ApplyToApply(opts *ApplyOptions) { opts.Force = force() }

// ApplyToSubResourcePatch implements SubResourcePatchOption.
func (forceOwnership) ApplyToSubResourcePatch(opts *SubResourcePatchOptions) { opts.Force = force() }

// ApplyToSubResourceApply implements SubResourceApplyOption.
func (forceOwnership) ApplyToSubResourceApply(opts *SubResourceApplyOptions) { opts.Force = force() }

// GracePeriodSeconds is the time a deleted object is given to stop. Zero deletes at once.
type GracePeriodSeconds int64

// ApplyToDelete implements DeleteOption.
func (s GracePeriodSeconds) ApplyToDelete(opts *DeleteOptions) {
	seconds := int64(s)
	opts.GracePeriodSeconds = &seconds
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (s GracePeriodSeconds) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) {
	s.ApplyToDelete(&opts.DeleteOptions)
}

// Preconditions must hold for a deletion to take place; otherwise the server answers 409 Conflict.
type Preconditions metav1.Preconditions

// ApplyToDelete implements DeleteOption.
func (p Preconditions) ApplyToDelete(opts *DeleteOptions) {
	preconditions := metav1.Preconditions(p)
	opts.Preconditions = &preconditions
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (p Preconditions) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) {
	p.ApplyToDelete(&opts.DeleteOptions)
}

// PropagationPolicy says what a deletion does to the objects that the deleted one owns.
type PropagationPolicy metav1.DeletionPropagation

// ApplyToDelete implements DeleteOption.
func (p PropagationPolicy) ApplyToDelete(opts *DeleteOptions) {
	policy := metav1.DeletionPropagation(p)
	opts.PropagationPolicy = &policy
}

// ApplyToDeleteAllOf implements DeleteAllOfOption.
func (p PropagationPolicy) ApplyToDeleteAllOf(opts *DeleteAllOfOptions) {
	p.ApplyToDelete(&opts.DeleteOptions)
}
