package cache

// This file holds whether a feed would bring an object, judged here and not by the API server.

import (
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/operon-dev/operon/pkg/client"
)

// verdict is whether an object belongs to a selection.
type verdict uint8

const (
	no verdict = iota
	yes
	unknown
)

// matches evaluates a feed's selectors as the API server would. A field that cannot be read off the object leaves it
// unknown.
func (f *feed) matches(r *resource, set labels.Set, obj client.Object) verdict {
	if f.LabelSelector != nil && !f.LabelSelector.Matches(set) {
		return no
	}
	if f.FieldSelector == nil || f.FieldSelector.Empty() {
		return yes
	}
	if matchesNothing(f.FieldSelector) {
		return no
	}
	v := yes
	for _, req := range f.FieldSelector.Requirements() {
		switch matchesField(r, req, obj) {
		case no:
			return no
		case unknown:
			v = unknown
		}
	}
	return v
}

func matchesField(r *resource, req fields.Requirement, obj client.Object) verdict {
	var have string
	switch req.Field {
	case fieldName:
		have = obj.GetName()
	case fieldNamespace:
		have = obj.GetNamespace()
	default:
		value, ok := fieldOf(r, req.Field, obj)
		if !ok {
			return unknown
		}
		have = value
	}
	if (have == req.Value) != (req.Operator == selection.NotEquals) {
		return yes
	}
	return no
}

// fieldOf reads a field by the path that is its name, as it is for custom resources and for most fields of the built-in
// ones.
func fieldOf(r *resource, path string, obj client.Object) (string, bool) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		if formOf(obj) == formMetadata {
			return "", false
		}
		full, err := toFull(r, obj)
		if err != nil {
			return "", false
		}
		u = full
	}
	value, found, err := unstructured.NestedFieldNoCopy(u.Object, splitPath(path)...)
	if err != nil || !found {
		return "", false
	}
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	}
	return "", false
}

func splitPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }
