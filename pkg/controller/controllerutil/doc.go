// Package controllerutil has what controllers do to objects again and again: owner references ([SetControllerReference],
// [SetOwnerReference] and their kin), finalizers ([AddFinalizer], [RemoveFinalizer], [ContainsFinalizer]), and bringing
// an object into a wanted state whether or not it is there yet ([CreateOrUpdate], [CreateOrPatch]).
//
// Owner references are compared by group, kind and name: a reference to an owner that was deleted and made again, or to
// another version of its API, is a reference to that owner. The functions on references and finalizers change the object in
// memory only; to write it is up to the caller.
package controllerutil
