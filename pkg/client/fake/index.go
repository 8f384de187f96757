package fake

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/operon-dev/operon/pkg/client"
)

// indexes are the functions that answer field selectors, by kind and field.
type indexes map[schema.GroupVersionKind]map[string]index

// index is one of them. It is given objects in the form of the object it was registered with.
type index struct {
	form    runtime.Object
	extract client.IndexerFunc
}

// add reports false if there is such an index already.
func (ix indexes) add(gvk schema.GroupVersionKind, field string, form runtime.Object, extract client.IndexerFunc) bool {
	if _, ok := ix[gvk][field]; ok {
		return false
	}
	if ix[gvk] == nil {
		ix[gvk] = map[string]index{}
	}
	ix[gvk][field] = index{form: form, extract: extract}
	return true
}

func (ix indexes) clone() indexes {
	copied := indexes{}
	for gvk, byField := range ix {
		copied[gvk] = maps.Clone(byField)
	}
	return copied
}

// selector says which objects of a kind are meant.
type selector struct {
	namespace string
	labels    labels.Selector
	fields    []requirement
	nothing   bool
}

// requirement is one term of a field selector.
type requirement struct {
	values func(*entry) ([]string, error)
	value  string
	not    bool
}

// selectorFor returns the selector of list options, or the error of a field that nobody can tell.
func (s *server) selectorFor(k *kind, o *client.ListOptions) (*selector, error) {
	sel := &selector{labels: o.LabelSelector, namespace: o.Namespace}
	if k.has(clusterScoped) {
		sel.namespace = ""
	}
	if o.FieldSelector == nil {
		return sel, nil
	}
	terms := o.FieldSelector.Requirements()
	sel.nothing = len(terms) == 0 && !o.FieldSelector.Matches(fields.Set{})
	for _, term := range terms {
		r, err := s.requirement(k, term)
		if err != nil {
			return nil, err
		}
		sel.fields = append(sel.fields, r)
	}
	return sel, nil
}

func (s *server) requirement(k *kind, term fields.Requirement) (requirement, error) {
	r := requirement{value: term.Value, not: term.Operator == selection.NotEquals}
	if ix, ok := s.indexes[k.GroupVersionKind][term.Field]; ok {
		if r.not {
			return r, fmt.Errorf("field selector %s!=%s: an index answers key=value and key==value only", term.Field, term.Value)
		}
		r.values = func(e *entry) ([]string, error) {
			view, err := s.view(k, e, ix.form)
			if err != nil {
				return nil, err
			}
			return ix.extract(view.(client.Object)), nil
		}
		return r, nil
	}
	switch {
	case term.Field == "metadata.name":
		r.values = func(e *entry) ([]string, error) { return []string{e.obj.GetName()}, nil }
	case term.Field == "metadata.namespace":
		r.values = func(e *entry) ([]string, error) { return []string{e.obj.GetNamespace()}, nil }
	case k.definition != nil && slices.Contains(k.definition.SelectableFields, term.Field):
		path := strings.Split(term.Field, ".")
		r.values = func(e *entry) ([]string, error) {
			v, found, err := unstructured.NestedFieldNoCopy(e.obj.(*unstructured.Unstructured).Object, path...)
			if err != nil || !found {
				return []string{""}, nil
			}
			return []string{fmt.Sprint(v)}, nil
		}
	default:
		return r, fmt.Errorf("%v: field %s has no index in the fake: add one with WithIndex before selecting by it",
			k.GroupVersionKind, term.Field)
	}
	return r, nil
}

// matches says whether e is meant.
func (sel *selector) matches(e *entry) (bool, error) {
	if e == nil || sel.nothing || sel.namespace != "" && sel.namespace != e.obj.GetNamespace() {
		return false, nil
	}
	if sel.labels != nil && !sel.labels.Empty() && !sel.labels.Matches(labels.Set(e.obj.GetLabels())) {
		return false, nil
	}
	for _, r := range sel.fields {
		values, err := r.values(e)
		if err != nil {
			return false, err
		}
		if slices.Contains(values, r.value) == r.not {
			return false, nil
		}
	}
	return true, nil
}

// selective says whether anything but the namespace is asked for.
func (sel *selector) selective() bool {
	return sel.nothing || len(sel.fields) > 0 || sel.labels != nil && !sel.labels.Empty()
}
