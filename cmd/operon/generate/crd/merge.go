package crd

import (
	"fmt"
	"reflect"
	"slices"
)

// merge adds src to dst, so that dst demands what either does. Of what only informs (descriptions, enums that differ) dst's is kept. Bounds
// that both set go to allOf, dst's before src's. Neither's parts are changed.
func merge(dst, src *Schema) error {
	if src.Type != "" && dst.Type != "" && src.Type != dst.Type {
		return fmt.Errorf("it cannot be both a %s and a %s", dst.Type, src.Type)
	}
	keep(&dst.Type, src.Type)
	keep(&dst.Description, src.Description)
	keep(&dst.Title, src.Title)
	keep(&dst.ListType, src.ListType)
	keep(&dst.MapType, src.MapType)
	keepPointer(&dst.Example, src.Example)
	keepPointer(&dst.ExternalDocs, src.ExternalDocs)
	keepPointer(&dst.PreserveUnknownFields, src.PreserveUnknownFields)
	if len(dst.Enum) == 0 {
		dst.Enum = src.Enum
	}
	if len(dst.ListMapKeys) == 0 {
		dst.ListMapKeys = src.ListMapKeys
	}
	dst.ExclusiveMinimum = dst.ExclusiveMinimum || src.ExclusiveMinimum
	dst.ExclusiveMaximum = dst.ExclusiveMaximum || src.ExclusiveMaximum
	dst.UniqueItems = dst.UniqueItems || src.UniqueItems
	dst.Nullable = dst.Nullable || src.Nullable
	dst.EmbeddedResource = dst.EmbeddedResource || src.EmbeddedResource
	dst.IntOrString = dst.IntOrString || src.IntOrString
	dst.Validations = slices.Concat(dst.Validations, src.Validations)
	dst.AnyOf = slices.Concat(dst.AnyOf, src.AnyOf)
	dst.AllOf = slices.Concat(dst.AllOf, src.AllOf)
	mergeBounds(dst, src)
	dst.Required = union(dst.Required, src.Required)
	return mergeParts(dst, src)
}

func mergeBounds(dst, src *Schema) {
	var first, second Schema
	conflict := text(&dst.Format, src.Format, &first.Format, &second.Format)
	conflict = text(&dst.Pattern, src.Pattern, &first.Pattern, &second.Pattern) || conflict
	conflict = bound(&dst.Default, src.Default, &first.Default, &second.Default) || conflict
	conflict = bound(&dst.Minimum, src.Minimum, &first.Minimum, &second.Minimum) || conflict
	conflict = bound(&dst.Maximum, src.Maximum, &first.Maximum, &second.Maximum) || conflict
	conflict = bound(&dst.MultipleOf, src.MultipleOf, &first.MultipleOf, &second.MultipleOf) || conflict
	conflict = bound(&dst.MinLength, src.MinLength, &first.MinLength, &second.MinLength) || conflict
	conflict = bound(&dst.MaxLength, src.MaxLength, &first.MaxLength, &second.MaxLength) || conflict
	conflict = bound(&dst.MinItems, src.MinItems, &first.MinItems, &second.MinItems) || conflict
	conflict = bound(&dst.MaxItems, src.MaxItems, &first.MaxItems, &second.MaxItems) || conflict
	conflict = bound(&dst.MinProperties, src.MinProperties, &first.MinProperties, &second.MinProperties) || conflict
	conflict = bound(&dst.MaxProperties, src.MaxProperties, &first.MaxProperties, &second.MaxProperties) || conflict
	if conflict {
		dst.AllOf = append(slices.Clone(dst.AllOf), &first, &second)
	}
}

// yield drops from dst what src says differently, so that src's counts.
func yield(dst, src *Schema) {
	drop(&dst.Default, src.Default)
	drop(&dst.Minimum, src.Minimum)
	drop(&dst.Maximum, src.Maximum)
	drop(&dst.MultipleOf, src.MultipleOf)
	drop(&dst.MinLength, src.MinLength)
	drop(&dst.MaxLength, src.MaxLength)
	drop(&dst.MinItems, src.MinItems)
	drop(&dst.MaxItems, src.MaxItems)
	drop(&dst.MinProperties, src.MinProperties)
	drop(&dst.MaxProperties, src.MaxProperties)
	if src.Format != "" {
		dst.Format = ""
	}
	if src.Pattern != "" {
		dst.Pattern = ""
	}
	if len(src.Enum) > 0 {
		dst.Enum = nil
	}
	if len(src.Validations) > 0 {
		dst.Validations = nil
	}
	// Bounds that were there twice already are among the alternatives of allOf.
	parts := dst.AllOf
	dst.AllOf = nil
	for _, part := range parts {
		part = part.clone()
		yield(part, src)
		if len(part.tree()) > 0 {
			dst.AllOf = append(dst.AllOf, part)
		}
	}
}

func drop[T any](dst **T, src *T) {
	if src != nil {
		*dst = nil
	}
}

// mergeParts merges the schemas within.
func mergeParts(dst, src *Schema) error {
	var err error
	if dst.Items, err = both(dst.Items, src.Items); err != nil {
		return err
	}
	if dst.AdditionalProperties, err = both(dst.AdditionalProperties, src.AdditionalProperties); err != nil {
		return err
	}
	if dst.Properties == nil && len(src.Properties) > 0 {
		dst.Properties = make(map[string]*Schema, len(src.Properties))
	}
	for name, p := range src.Properties {
		if dst.Properties[name], err = both(dst.Properties[name], p); err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
	}
	return nil
}

func both(a, b *Schema) (*Schema, error) {
	switch {
	case a == nil:
		return b, nil
	case b == nil, reflect.DeepEqual(a.ref, b.ref) && reflect.DeepEqual(a.tree(), b.tree()):
		return a, nil
	}
	merged := a.clone()
	if b.overrides {
		yield(merged, b)
		if b.Description != "" {
			merged.Description = b.Description
		}
	}
	return merged, merge(merged, b)
}

func keep(dst *string, src string) {
	if *dst == "" {
		*dst = src
	}
}

func keepPointer[T any](dst **T, src *T) {
	if *dst == nil {
		*dst = src
	}
}

// text and bound merge one bound. Two that may differ move to the elements of allOf.
func text(dst *string, src string, first, second *string) bool {
	if *dst == "" || src == "" || *dst == src {
		keep(dst, src)
		return false
	}
	*first, *second, *dst = *dst, src, ""
	return true
}

func bound[T any](dst **T, src *T, first, second **T) bool {
	if *dst == nil || src == nil {
		keepPointer(dst, src)
		return false
	}
	*first, *second, *dst = *dst, src, nil
	return true
}

func union(a, b []string) []string {
	out := slices.Concat(a, b)
	slices.Sort(out)
	return slices.Compact(out)
}
