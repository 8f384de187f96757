package apiutil

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GVKForObject returns the kind of obj. For unstructured and metadata-only objects it is what the object says; for all
// others it is what scheme knows the Go type as, whatever the object says; where scheme knows it as several kinds, the one
// of them that the object says.
//
// The error for a Go type that the scheme does not know satisfies runtime.IsNotRegisteredError; that for an unstructured
// object without a kind satisfies runtime.IsMissingKind. A Go type of several kinds is an error if the object says none of
// them, and so is one of all versions, such as metav1.Status.
func GVKForObject(obj runtime.Object, scheme *runtime.Scheme) (schema.GroupVersionKind, error) {
	switch obj.(type) {
	case nil:
		return schema.GroupVersionKind{}, fmt.Errorf("the kind of a nil object is unknown")
	case *metav1.PartialObjectMetadata, *metav1.PartialObjectMetadataList:
		// The scheme may know these types too, but as a kind of their own: an envelope, not what is in it.
		gvk := obj.GetObjectKind().GroupVersionKind()
		if gvk.Kind == "" {
			return schema.GroupVersionKind{}, runtime.NewMissingKindErr(fmt.Sprintf("%T: metadata-only objects must name their kind", obj))
		}
		if gvk.Version == "" {
			return schema.GroupVersionKind{}, runtime.NewMissingVersionErr(fmt.Sprintf("%T: metadata-only objects must name their version", obj))
		}
		return gvk, nil
	}
	gvks, unversioned, err := scheme.ObjectKinds(obj)
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	if unversioned {
		return schema.GroupVersionKind{}, fmt.Errorf("%T is known to the scheme as a kind of all versions: it has none of its own", obj)
	}
	if len(gvks) == 1 {
		return gvks[0], nil
	}
	if said := obj.GetObjectKind().GroupVersionKind(); slices.Contains(gvks, said) {
		return said, nil
	}
	return schema.GroupVersionKind{}, fmt.Errorf("%T is known to the scheme as several kinds, set one of them in the object: %v", obj, gvks)
}

// IsObjectNamespaced tells whether objects of obj's kind live in namespaces.
func IsObjectNamespaced(obj runtime.Object, scheme *runtime.Scheme, restmapper meta.RESTMapper) (bool, error) {
	gvk, err := GVKForObject(obj, scheme)
	if err != nil {
		return false, err
	}
	return IsGVKNamespaced(gvk, restmapper)
}

// IsGVKNamespaced tells whether objects of that kind live in namespaces.
func IsGVKNamespaced(gvk schema.GroupVersionKind, restmapper meta.RESTMapper) (bool, error) {
	mapping, err := restmapper.RESTMapping(gvk.GroupKind(), gvk.Version)
	if err != nil {
		return false, err
	}
	switch mapping.Scope.Name() {
	case meta.RESTScopeNameNamespace:
		return true, nil
	case meta.RESTScopeNameRoot:
		return false, nil
	default:
		return false, fmt.Errorf("%s: unknown scope %q", gvk, mapping.Scope.Name())
	}
}
