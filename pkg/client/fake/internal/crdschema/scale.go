package crdschema

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// numbersOfScale checks the fields that the scale subresource shows. Unlike the schema's, these checks let nothing through for having
// been wrong before.
func (v *Version) numbersOfScale(c Change) field.ErrorList {
	if v.Scale == nil {
		return nil
	}
	var errs field.ErrorList
	if !c.Status {
		errs = append(errs, replicas(c.Object, v.Scale.SpecReplicasPath)...)
	}
	errs = append(errs, replicas(c.Object, v.Scale.StatusReplicasPath)...)
	if path := v.Scale.LabelSelectorPath; path != nil {
		if selector, _, err := unstructured.NestedString(c.Object, stepsOf(*path)...); err != nil {
			errs = append(errs, field.Invalid(field.NewPath(*path), selector, err.Error()))
		}
	}
	return errs
}

// replicas checks a number of replicas.
func replicas(object map[string]any, path string) field.ErrorList {
	n, _, err := unstructured.NestedInt64(object, strings.Split(strings.TrimPrefix(path, "."), ".")...)
	switch at := field.NewPath(path); {
	case err != nil:
		return field.ErrorList{field.Invalid(at, n, err.Error())}
	case n < 0:
		return field.ErrorList{field.Invalid(at, n, "should be a non-negative integer")}
	case n > math.MaxInt32:
		return field.ErrorList{field.Invalid(at, n, fmt.Sprintf("should be less than or equal to %v", math.MaxInt32))}
	}
	return nil
}
