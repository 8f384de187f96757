package crdschema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"
)

// A Change is what Validate is asked about: an object that replaces an old one or, without that, is new.
type Change struct {
	Object, Old map[string]any
	// Meta and OldMeta are their metadata.
	Meta, OldMeta metav1.Object
	// Status says that it is made through the status subresource: of the object, all else is what it was.
	Status bool
}

// Validate checks an object, and, when it replaces another, what may not change. What was wrong before and has not been
// touched is let through (ratcheting), as servers do. Rules are asked last, and only about an object whose fields are of the
// right types and sizes.
func (v *Version) Validate(c Change) field.ErrorList {
	at := field.NewPath("metadata")
	errs := validation.ValidateObjectMetaAccessor(c.Meta, v.Namespaced, validation.NameIsDNSSubdomain, at)
	if c.Old != nil {
		errs = append(errs, validation.ValidateObjectMetaAccessorUpdate(c.Meta, c.OldMeta, at)...)
	}
	errs = append(errs, v.againstSchema(c)...)
	errs = append(errs, v.numbersOfScale(c)...)
	if v.structural == nil {
		return errs
	}
	if c.Old == nil || len(listtype.ValidateListSetsAndMaps(nil, v.structural, c.Old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, v.structural, c.Object)...)
	}
	if v.Rules == nil {
		return errs
	}
	if slices.ContainsFunc(errs, keepsRulesFromBeingAsked) {
		return append(errs, field.Invalid(nil, nil,
			"some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"))
	}
	return append(errs, v.Rules(v.asServed(c.Object), v.asServed(c.Old))...)
}

func keepsRulesFromBeingAsked(err *field.Error) bool {
	switch err.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// asServed returns obj as an object of this version: rules may read apiVersion, and objects are kept under the stored one.
func (v *Version) asServed(obj map[string]any) map[string]any {
	served := v.Kind.GroupVersion().String()
	if obj == nil || obj["apiVersion"] == served {
		return obj
	}
	obj = maps.Clone(obj)
	obj["apiVersion"] = served
	return obj
}

// againstSchema checks the object, or its status where that alone is written.
func (v *Version) againstSchema(c Change) field.ErrorList {
	validator, value, there := v.validator, any(c.Object), true
	var below *field.Path
	if c.Status {
		validator, below = v.statusValidator, field.NewPath("status")
		value, there = c.Object["status"]
	}
	if validator == nil || !there {
		return nil
	}
	var errs field.ErrorList
	for _, err := range validator.Validate(value).Errors {
		invalid, ok := err.(*openapierrors.Validation)
		if !ok {
			errs = append(errs, field.Invalid(below, "", err.Error()))
			continue
		}
		at := below
		if path := strings.TrimPrefix(invalid.Name, "."); path != "" {
			at = at.Child(path)
		}
		if c.Old != nil && untouched(c.Object, c.Old, at, invalid.Code() == openapierrors.RequiredFailCode) {
			continue
		}
		errs = append(errs, asFieldError(at, invalid))
	}
	return errs
}

// asFieldError says what is invalid in the words of an API server.
func asFieldError(at *field.Path, invalid *openapierrors.Validation) *field.Error {
	value := invalid.Value
	if value == nil {
		value = ""
	}
	switch invalid.Code() {
	case openapierrors.RequiredFailCode:
		return field.Required(at, "")
	case openapierrors.EnumFailCode:
		return field.NotSupported(at, invalid.Value, inWords(invalid.Values))
	case openapierrors.TooLongFailCode:
		return field.TooLong(at, "", count(invalid.Valid))
	case openapierrors.MaxItemsFailCode, openapierrors.TooManyPropertiesCode:
		return field.TooMany(at, count(invalid.Value), count(invalid.Valid))
	case openapierrors.InvalidTypeCode:
		return field.TypeInvalid(at, value, invalid.Error())
	default:
		return field.Invalid(at, value, invalid.Error())
	}
}

// inWords returns the values of an enum: strings as they are, all others as JSON.
func inWords(values []any) []string {
	words := make([]string, 0, len(values))
	for _, v := range values {
		if s, ok := v.(string); ok {
			words = append(words, s)
		} else if data, err := json.Marshal(v); err == nil {
			words = append(words, string(data))
		}
	}
	return words
}

// count returns a number of things as an error names it, or -1, for "unknown", if it is none.
func count(n any) int {
	if n, ok := n.(int64); ok {
		return int(n)
	}
	return -1
}

// untouched says whether what lies there is the same in both objects. What is missing is looked at from the map that
// misses it.
func untouched(obj, old map[string]any, at *field.Path, missing bool) bool {
	var steps []string
	if at != nil {
		steps = stepsOf(at.String())
	}
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

// stepsOf takes a path like "spec.list[2].name" apart.
func stepsOf(path string) []string {
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
