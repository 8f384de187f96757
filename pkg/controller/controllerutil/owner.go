package controllerutil

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/client"
	"github.com/operon-dev/operon/pkg/client/apiutil"
)

// AlreadyOwnedError says that an object cannot get a controller because it has another one.
type AlreadyOwnedError struct {
	// Object is the object.
	Object metav1.Object
	// Owner is its controller.
	Owner metav1.OwnerReference
}

// Error implements error.
func (e *AlreadyOwnedError) Error() string {
	return fmt.Sprintf("%s has a controller already: %s %s", nameOf(e.Object), e.Owner.Kind, e.Owner.Name)
}

func nameOf(obj metav1.Object) string {
	name := obj.GetName()
	if namespace := obj.GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return fmt.Sprintf("%T %s", obj, name)
}

// OwnerReferenceOption changes an owner reference before it is set.
type OwnerReferenceOption func(*metav1.OwnerReference)

// WithBlockOwnerDeletion says whether the owned object holds up the foreground deletion of its owner.
func WithBlockOwnerDeletion(blockOwnerDeletion bool) OwnerReferenceOption {
	return func(ref *metav1.OwnerReference) {
		ref.BlockOwnerDeletion = &blockOwnerDeletion
	}
}

// SetControllerReference makes owner the controller of controlled: the garbage collector deletes controlled with it, and
// watches of controlled find the way to it. The reference blocks the foreground deletion of the owner unless an option says
// otherwise.
//
// An object has one controller: if controlled has another one, the error is an *AlreadyOwnedError. It is an error, too, if
// owner is in another namespace, or in a namespace while controlled is cluster-scoped.
func SetControllerReference(owner, controlled metav1.Object, scheme *runtime.Scheme, opts ...OwnerReferenceOption) error {
	yes, block := true, true
	ref, err := referenceTo(owner, controlled, scheme)
	if err != nil {
		return err
	}
	ref.Controller, ref.BlockOwnerDeletion = &yes, &block
	for _, opt := range opts {
		opt(&ref)
	}
	if has := metav1.GetControllerOf(controlled); has != nil && !sameOwner(*has, ref) {
		return &AlreadyOwnedError{Object: controlled, Owner: *has}
	}
	setReference(controlled, ref)
	return nil
}

// SetOwnerReference makes owner an owner of object, without making it its controller. A reference to owner that object
// already has is replaced. It is an error if owner is in another namespace, or in a namespace while object is
// cluster-scoped.
func SetOwnerReference(owner, object metav1.Object, scheme *runtime.Scheme, opts ...OwnerReferenceOption) error {
	ref, err := referenceTo(owner, object, scheme)
	if err != nil {
		return err
	}
	for _, opt := range opts {
		opt(&ref)
	}
	setReference(object, ref)
	return nil
}

// RemoveOwnerReference removes the reference to owner from object. It is an error if there is none.
func RemoveOwnerReference(owner, object metav1.Object, scheme *runtime.Scheme) error {
	ref, err := identityOf(owner, scheme)
	if err != nil {
		return err
	}
	refs := object.GetOwnerReferences()
	i := slices.IndexFunc(refs, func(r metav1.OwnerReference) bool { return sameOwner(r, ref) })
	if i < 0 {
		return fmt.Errorf("%s has no owner reference to %s", nameOf(object), nameOf(owner))
	}
	object.SetOwnerReferences(slices.Delete(slices.Clone(refs), i, i+1))
	return nil
}

// RemoveControllerReference removes the reference to owner, which must be object's controller, from object. It is an error
// if it is not.
func RemoveControllerReference(owner, object metav1.Object, scheme *runtime.Scheme) error {
	ref, err := identityOf(owner, scheme)
	if err != nil {
		return err
	}
	has := metav1.GetControllerOf(object)
	if has == nil {
		return fmt.Errorf("%s has no controller", nameOf(object))
	}
	if !sameOwner(*has, ref) {
		return fmt.Errorf("%s is not the controller of %s: %s %s is", nameOf(owner), nameOf(object), has.Kind, has.Name)
	}
	return RemoveOwnerReference(owner, object, scheme)
}

// HasControllerReference tells whether object has a controller.
func HasControllerReference(object metav1.Object) bool {
	return metav1.GetControllerOfNoCopy(object) != nil
}

// HasOwnerReference tells whether there is a reference to obj in ownerRefs.
func HasOwnerReference(ownerRefs []metav1.OwnerReference, obj client.Object, scheme *runtime.Scheme) (bool, error) {
	ref, err := identityOf(obj, scheme)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(ownerRefs, func(r metav1.OwnerReference) bool { return sameOwner(r, ref) }), nil
}

// identityOf returns the reference to owner, without what a reference says beyond who is meant.
func identityOf(owner metav1.Object, scheme *runtime.Scheme) (metav1.OwnerReference, error) {
	obj, ok := owner.(runtime.Object)
	if !ok {
		return metav1.OwnerReference{}, fmt.Errorf("%T is no runtime.Object: its kind is unknown", owner)
	}
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return metav1.OwnerReference{}, err
	}
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: owner.GetName(), UID: owner.GetUID()}, nil
}

func referenceTo(owner, object metav1.Object, scheme *runtime.Scheme) (metav1.OwnerReference, error) {
	ref, err := identityOf(owner, scheme)
	if err != nil {
		return ref, err
	}
	switch from, to := object.GetNamespace(), owner.GetNamespace(); {
	case to == "" || from == to:
		return ref, nil
	case from == "":
		return ref, fmt.Errorf("%s is cluster-scoped and cannot have an owner in a namespace: %s", nameOf(object), nameOf(owner))
	default:
		return ref, fmt.Errorf("%s cannot have an owner in another namespace: %s", nameOf(object), nameOf(owner))
	}
}

func setReference(object metav1.Object, ref metav1.OwnerReference) {
	// A copy, because the slice may be shared with an object in a cache.
	refs := slices.Clone(object.GetOwnerReferences())
	if i := slices.IndexFunc(refs, func(r metav1.OwnerReference) bool { return sameOwner(r, ref) }); i >= 0 {
		refs[i] = ref
	} else {
		refs = append(refs, ref)
	}
	object.SetOwnerReferences(refs)
}

func sameOwner(a, b metav1.OwnerReference) bool {
	if a.Kind != b.Kind || a.Name != b.Name {
		return false
	}
	ga, errA := schema.ParseGroupVersion(a.APIVersion)
	gb, errB := schema.ParseGroupVersion(b.APIVersion)
	return errA == nil && errB == nil && ga.Group == gb.Group
}
