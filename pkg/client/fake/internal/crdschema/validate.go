package crdschema

import (
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
)

// Validate checks obj, and, when it replaces old, what may not change. meta and oldMeta are their metadata. What was wrong
// before and has not been touched is let through (ratcheting), as servers do.
func (v *Version) Validate(obj map[string]any, meta metav1.Object, old map[string]any, oldMeta metav1.Object) field.ErrorList {
	at := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(meta, v.Namespaced, validation.NameIsDNSSubdomain, at)
	if old != nil {
		errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(meta, oldMeta, at)...)
	}
	if v.structural == nil {
		return errs
	}
	errs = append(errs, v.againstSchema(obj, old)...)
	if old == nil || len(listtype.ValidateListSetsAndMaps(nil, v.structural, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, obj)...)
	}
	return errs
}

func (v *Version) againstSchema(obj, old map[string]any) field.ErrorList {
	var errs field.ErrorList
	for _, err := range v.validator.Validate(obj).Errors {
		invalid, ok := err.(*openapierrors.Validation)
		if !ok {
			errs = append(errs, field.Invalid(nil, "", err.Error()))
			continue
		}
		path := strings.TrimPrefix(invalid.Name, ".")
		if old != nil && untouched(obj, old, path, invalid.Code() == openapierrors.RequiredFailCode) {
			continue
		}
		errs = append(errs, asFieldError(path, invalid))
	}
	return errs
}

func asFieldError(path string, invalid *openapierrors.Validation) *field.Error {
	var at *field.Path
	if path != "" {
		at = field.NewPath(path)
	}
	value := invalid.Value
	if value == nil {
		value = ""
	}
	switch invalid.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(at, "")
	case openapierrors.EnumFailCode:
		allowed := make([]string, 0, len(invalid.Values))
		for _, v := range invalid.Values {
			if s, ok := v.(string); ok {
				allowed = append(allowed, s)
			}
		}
		return field.NotSupported(at, value, allowed)
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(at, value, invalid.Error())
	default:
		return field.Invalid(at, value, invalid.Error())
	}
}

// untouched says whether what lies at path is the same in both objects. What is missing is looked at from the map that
// misses it.
func untouched(obj, old map[string]any, path string, missing bool) bool {
	steps := steps(path)
	if missing && len(steps) > 0 {
		steps = steps[:len(steps)-1]
	}
	now, ok := follow(obj, steps)
	if !ok {
		return false
	}
	before, ok := follow(old, steps)
	return ok && equality.Semantic.DeepEqual(now, before)
}

// steps takes a path like "spec.list[2].name" apart.
func steps(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

func follow(value any, steps []string) (any, bool) {
	for _, step := range steps {
		switch at := value.(type) {
		case map[string]any:
			next, ok := at[step]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(at) {
				return nil, false
			}
			value = at[i]
		default:
			return nil, false
		}
	}
	return value, true
}
