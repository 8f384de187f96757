package cache

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// OwnedBy selects, in a List from a cache or in [All], the objects that have an owner reference to the UID, from an
// index that every store has. API servers do not know the field.
//
// It adds to the field selector of the options before it; a client.MatchingFields after it replaces it.
func OwnedBy(owner types.UID) client.ListOption {
	return andFields{fields.OneTermEqualSelector(fieldOwnerUID, string(owner))}
}

// FieldIn selects, in a List from a cache or in [All], the objects of which a field has one of some values. The field is
// one that IndexField was called with, metadata.name or metadata.namespace. API servers do not know such selectors.
//
// It adds to the field selector of the options before it; a client.MatchingFields after it replaces it.
func FieldIn(field string, values ...string) client.ListOption {
	if len(values) == 0 {
		return andFields{fields.OneTermEqualSelector(fieldName, "")} // what no object has
	}
	return andFields{oneOf{field: field, values: slices.Compact(slices.Sorted(slices.Values(values)))}}
}

// FieldNotIn selects the objects of which a field has none of some values. It is like [FieldIn] otherwise, and API
// servers understand it where they know the field.
func FieldNotIn(field string, values ...string) client.ListOption {
	var all []fields.Selector
	for _, v := range values {
		all = append(all, fields.OneTermNotEqualSelector(field, v))
	}
	return andFields(all)
}

// andFields adds selectors to those of a list.
type andFields []fields.Selector

// matchesNothing says whether a selector is fields.Nothing(), or like it: it has no requirements that would say so.
func matchesNothing(s fields.Selector) bool {
	return len(s.Requirements()) == 0 && !s.Matches(fields.Set{})
}

// ApplyToList implements client.ListOption.
func (a andFields) ApplyToList(opts *client.ListOptions) {
	if opts.FieldSelector != nil && matchesNothing(opts.FieldSelector) {
		return
	}
	all := []fields.Selector(a)
	if opts.FieldSelector != nil && !opts.FieldSelector.Empty() {
		all = append([]fields.Selector{opts.FieldSelector}, all...)
	}
	if len(all) == 1 {
		opts.FieldSelector = all[0]
		return
	}
	opts.FieldSelector = fields.AndSelectors(all...)
}

// oneOf is the selector that package fields lacks: a field has one of some values. As a requirement it has the operator
// In, and the values, escaped, with commas between them.
type oneOf struct {
	field  string
	values []string
}

var _ fields.Selector = oneOf{}

func (o oneOf) Matches(f fields.Fields) bool { return slices.Contains(o.values, f.Get(o.field)) }

func (o oneOf) Empty() bool { return false }

func (o oneOf) RequiresExactMatch(field string) (string, bool) {
	if len(o.values) == 1 && field == o.field {
		return o.values[0], true
	}
	return "", false
}

func (o oneOf) Transform(fn fields.TransformFunc) (fields.Selector, error) {
	next := oneOf{field: o.field}
	for _, v := range o.values {
		field, value, err := fn(o.field, v)
		if err != nil {
			return nil, err
		}
		next.field = field
		next.values = append(next.values, value)
	}
	return next, nil
}

func (o oneOf) Requirements() fields.Requirements {
	return fields.Requirements{{Operator: selection.In, Field: o.field, Value: o.joined()}}
}

func (o oneOf) joined() string {
	escaped := make([]string, len(o.values))
	for i, v := range o.values {
		escaped[i] = fields.EscapeValue(v)
	}
	return strings.Join(escaped, ",")
}

func (o oneOf) String() string { return fmt.Sprintf("%s in (%s)", o.field, o.joined()) }

func (o oneOf) DeepCopySelector() fields.Selector {
	return oneOf{field: o.field, values: slices.Clone(o.values)}
}

// valuesOf are the values that a requirement names; not says that the field must have none of them.
func valuesOf(r *fields.Requirement) (values []string, not bool, err error) {
	switch r.Operator {
	case selection.Equals, selection.DoubleEquals:
		return []string{r.Value}, false, nil
	case selection.NotEquals:
		return []string{r.Value}, true, nil
	case selection.In:
		values, err = splitValues(r.Value)
		return values, false, err
	}
	return nil, false, fmt.Errorf("field selector %q: a cache knows no operator %q", r.Field, r.Operator)
}

// splitValues is the opposite of oneOf.joined.
func splitValues(joined string) ([]string, error) {
	var values []string
	for rest, more := joined, true; more; {
		end := 0
		for end < len(rest) && rest[end] != ',' {
			if rest[end] == '\\' { // what is escaped separates nothing
				end++
			}
			end++
		}
		end = min(end, len(rest))
		value, err := fields.UnescapeValue(rest[:end])
		if err != nil {
			return nil, err
		}
		values = append(values, value)
		if more = end < len(rest); more {
			rest = rest[end+1:]
		}
	}
	return values, nil
}
