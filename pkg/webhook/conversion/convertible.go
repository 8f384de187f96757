package conversion

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-dev/operon/pkg/conversion"
)

// PartialImplementationError says that the Go types of a kind's versions do
// not make up a hub with its spokes: there is none, or more than one, that is
// the hub, or there are some that are neither hub nor convertible.
type PartialImplementationError struct {
	kind      schema.GroupKind
	hubs      []string
	nonSpokes []string
}

// Error implements error.
func (e PartialImplementationError) Error() string {
	switch {
	case len(e.hubs) == 0:
		return fmt.Sprintf("no version of %s is the hub", e.kind)
	case len(e.hubs) > 1:
		return fmt.Sprintf("%d versions of %s are hubs, one must be: %s", len(e.hubs), e.kind, strings.Join(e.hubs, ", "))
	}
	return fmt.Sprintf("%d versions of %s are neither the hub nor Convertible: %s", len(e.nonSpokes), e.kind, strings.Join(e.nonSpokes, ", "))
}

// IsConvertible reports whether an object can be converted to all versions of
// its kind in the scheme by its Go types alone: one implements conversion.Hub, and all others
// conversion.Convertible. A kind with one version, or none that implements either,
// is not convertible. It returns a PartialImplementationError for what is in between.
func IsConvertible(scheme *runtime.Scheme, obj runtime.Object) (bool, error) {
	kinds, _, err := scheme.ObjectKinds(obj)
	if err != nil {
		return false, err
	}
	versions, err := allVersions(scheme, kinds[0].GroupKind())
	if err != nil {
		return false, err
	}
	if len(versions) == 1 {
		return false, nil
	}
	found := PartialImplementationError{kind: kinds[0].GroupKind()}
	spokes := 0
	for _, version := range versions {
		switch version.(type) {
		case conversion.Hub:
			found.hubs = append(found.hubs, fmt.Sprintf("%T", version))
		case conversion.Convertible:
			spokes++
		default:
			found.nonSpokes = append(found.nonSpokes, fmt.Sprintf("%T", version))
		}
	}
	switch {
	case len(found.hubs) == 0 && spokes == 0:
		return false, nil
	case len(found.hubs) == 1 && len(found.nonSpokes) == 0:
		return true, nil
	}
	return false, found
}

// allVersions returns an empty object of each version of a kind, in the order of the versions' names.
func allVersions(scheme *runtime.Scheme, kind schema.GroupKind) ([]runtime.Object, error) {
	var versions []string
	for gvk := range scheme.AllKnownTypes() {
		if gvk.GroupKind() == kind && gvk.Version != runtime.APIVersionInternal {
			versions = append(versions, gvk.Version)
		}
	}
	slices.Sort(versions)
	var objects []runtime.Object
	for _, version := range versions {
		obj, err := scheme.New(kind.WithVersion(version))
		if err != nil {
			return nil, err
		}
		objects = append(objects, obj)
	}
	return objects, nil
}

// convertByTypes converts by what the Go types implement.
func convertByTypes(scheme *runtime.Scheme, kind schema.GroupKind, src, dst runtime.Object) error {
	srcHub, srcIsHub := src.(conversion.Hub)
	dstHub, dstIsHub := dst.(conversion.Hub)
	srcSpoke, srcIsSpoke := src.(conversion.Convertible)
	dstSpoke, dstIsSpoke := dst.(conversion.Convertible)
	switch {
	case srcIsHub && dstIsSpoke:
		return dstSpoke.ConvertFrom(srcHub)
	case dstIsHub && srcIsSpoke:
		return srcSpoke.ConvertTo(dstHub)
	case srcIsSpoke && dstIsSpoke:
		hub, err := hubOf(scheme, kind)
		if err != nil {
			return err
		}
		if err := srcSpoke.ConvertTo(hub); err != nil {
			return fmt.Errorf("%T to the hub %T: %w", src, hub, err)
		}
		if err := dstSpoke.ConvertFrom(hub); err != nil {
			return fmt.Errorf("%T from the hub %T: %w", dst, hub, err)
		}
		return nil
	}
	return fmt.Errorf("no conversion of %T to %T: what is not the hub must be Convertible", src, dst)
}

// hubOf returns an empty object of the version that is the hub.
func hubOf(scheme *runtime.Scheme, kind schema.GroupKind) (conversion.Hub, error) {
	versions, err := allVersions(scheme, kind)
	if err != nil {
		return nil, err
	}
	var hubs []conversion.Hub
	var names []string
	for _, version := range versions {
		if hub, ok := version.(conversion.Hub); ok {
			hubs, names = append(hubs, hub), append(names, fmt.Sprintf("%T", hub))
		}
	}
	if len(hubs) != 1 {
		return nil, PartialImplementationError{kind: kind, hubs: names}
	}
	gvks, _, err := scheme.ObjectKinds(hubs[0])
	if err != nil {
		return nil, err
	}
	hubs[0].GetObjectKind().SetGroupVersionKind(gvks[0])
	return hubs[0], nil
}
