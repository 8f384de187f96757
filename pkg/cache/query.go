package cache

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/operon-dev/operon/pkg/client"
)

// Fields that can be selected by without an index of one's own.
const (
	fieldName      = "metadata.name"
	fieldNamespace = "metadata.namespace"
	fieldOwnerUID  = "metadata.ownerReferences.uid"
)

// query is what a List asks for.
type query struct {
	form      form
	namespace string
	labels    labels.Requirements
	fields    fields.Requirements
	limit     int
}

// IndexField implements client.FieldIndexer.
func (c *stores) IndexField(_ context.Context, obj client.Object, field string, extractValue client.IndexerFunc) error {
	p, f, err := c.placeOf(obj)
	if err != nil {
		return err
	}
	s, _, err := c.claim(p, f, toIndex)
	if err != nil {
		return err
	}
	return c.define(p, s, fieldDef{name: field, form: f, extract: extractValue})
}

// fieldDef is an index that a user wants: the function gets objects in the form.
type fieldDef struct {
	name    string
	form    form
	extract func(client.Object) []string
}

// addField adds an index, and puts what is there into it.
func (s *store) addField(d fieldDef) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, f := d.name, d.form
	forms := s.indexes.fields[name]
	if forms[f] != nil || name == fieldName || name == fieldNamespace || name == fieldOwnerUID {
		return fmt.Errorf("%s: field %q has an index already", s.gvk.Kind, name)
	}
	ix := &fieldIndex{index: *newIndex(name), form: f, extract: d.extract}
	forms[f] = ix
	s.indexes.fields[name] = forms
	s.all(metav1.NamespaceAll, func(at *slot) bool {
		for _, p := range ix.values(s.resource, at.now, nil) {
			if at.find(p) < 0 {
				p.add(at)
			}
		}
		return true
	})
	return nil
}

// find returns what a query asks for, in no particular order. It starts from the smallest set that an index has for one
// of the conditions and tests the others on its members.
func (s *store) find(q query) ([]*entry, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	terms, err := s.terms(&q)
	if err != nil || terms == nil {
		return nil, err
	}
	var found []*entry
	test := func(at *slot) bool {
		for i := range terms {
			if !terms[i].matches(at, &q) {
				return true
			}
		}
		found = append(found, at.now)
		return q.limit == 0 || len(found) < q.limit
	}
	best := &terms[0]
	for i := range terms[1:] {
		if t := &terms[i+1]; t.size < best.size {
			best = t
		}
	}
	if q.limit == 0 {
		found = make([]*entry, 0, min(best.size, 1+s.size))
	}
	s.each(best, &q, test)
	return found, nil
}

// term is one condition of a query: how many candidates its index has, and how to test one.
type term struct {
	size     int
	postings []*posting          // the candidates, in one posting or more
	label    *labels.Requirement // tested on the labels
	fields   []*posting          // tested by membership in one of them, or the lack of it
	names    []string            // one of which it is, or none
	not      bool
	kind     termKind
}

type termKind uint8

const (
	termScope termKind = iota // the namespace, or everything
	termLabel
	termField
	termName
	termNamespace
)

// unbounded is the size of a term whose candidates no index has.
const unbounded = int(^uint(0) >> 1)

// terms turns a query into conditions; none at all if it cannot match anything. The caller holds the lock.
func (s *store) terms(q *query) ([]term, error) {
	if !s.namespaced {
		q.namespace = metav1.NamespaceAll
	}
	terms := make([]term, 1, 1+len(q.labels)+len(q.fields))
	for i := range q.fields {
		t, err := s.fieldTerm(q, &q.fields[i])
		if err != nil {
			return nil, err
		}
		if t.kind == termScope {
			if t.size == 0 {
				return nil, nil
			}
			continue
		}
		terms = append(terms, t)
	}
	terms[0] = term{kind: termScope, size: s.size}
	if q.namespace != metav1.NamespaceAll {
		terms[0].size = len(s.namespaces[q.namespace])
	}
	for i := range q.labels {
		terms = append(terms, s.labelTerm(&q.labels[i]))
	}
	return terms, nil
}

func (s *store) labelTerm(r *labels.Requirement) term {
	t := term{kind: termLabel, label: r, size: unbounded}
	ix := s.indexes.labels[r.Key()]
	switch r.Operator() {
	case selection.Equals, selection.DoubleEquals, selection.In:
		t.size = 0
		if ix == nil {
			return t
		}
		for _, v := range r.ValuesUnsorted() {
			if p := ix.postings[v]; p != nil {
				t.postings = append(t.postings, p)
				t.size += len(p.slots)
			}
		}
	case selection.Exists, selection.GreaterThan, selection.LessThan:
		t.size = 0
		if ix == nil {
			return t
		}
		t.size = ix.total
		t.postings = make([]*posting, 0, len(ix.postings))
		for _, p := range ix.postings {
			t.postings = append(t.postings, p)
		}
	}
	return t
}

// fieldTerm turns a condition on a field into a term. One on the namespace may narrow the query instead; its term then
// has the kind termScope, and the size 0 if it excludes everything.
func (s *store) fieldTerm(q *query, r *fields.Requirement) (term, error) {
	values, not, err := valuesOf(r)
	if err != nil {
		return term{}, fmt.Errorf("%s: %w", s.gvk.Kind, err)
	}
	switch r.Field {
	case fieldName:
		return s.nameTerm(q, values, not), nil
	case fieldNamespace:
		return s.namespaceTerm(q, values, not), nil
	case fieldOwnerUID:
		return fieldTermOf(s.indexes.owners, values, not), nil
	}
	forms, ok := s.indexes.fields[r.Field]
	if ix := forms[q.form]; ix != nil {
		return fieldTermOf(&ix.index, values, not), nil
	}
	for _, ix := range forms {
		if ok && ix != nil {
			return fieldTermOf(&ix.index, values, not), nil
		}
	}
	return term{}, fmt.Errorf("%s: field %q has no index in the cache: add one with IndexField before selecting by it", s.gvk.Kind, r.Field)
}

func fieldTermOf(ix *index, values []string, not bool) term {
	t := term{kind: termField, not: not, size: unbounded}
	total := 0
	for _, v := range values {
		if p := ix.postings[v]; p != nil {
			t.fields = append(t.fields, p)
			total += len(p.slots)
		}
	}
	if !not {
		t.size, t.postings = total, t.fields
	}
	return t
}

func (s *store) nameTerm(q *query, names []string, not bool) term {
	t := term{kind: termName, names: names, not: not, size: unbounded}
	if !not {
		t.size = len(names)
		if q.namespace == metav1.NamespaceAll {
			t.size *= len(s.namespaces)
		}
	}
	return t
}

func (s *store) namespaceTerm(q *query, names []string, not bool) term {
	pass, nothing := term{kind: termScope, size: 1}, term{kind: termScope}
	if q.namespace != metav1.NamespaceAll || !s.namespaced {
		at := q.namespace // empty where there are no namespaces
		if slices.Contains(names, at) == not {
			return nothing
		}
		return pass
	}
	switch {
	case not:
		return term{kind: termNamespace, names: names, not: true, size: unbounded}
	case len(names) == 1:
		if names[0] == metav1.NamespaceAll {
			return nothing
		}
		q.namespace = names[0]
		return pass
	}
	t := term{kind: termNamespace, names: names}
	for _, n := range names {
		t.size += len(s.namespaces[n])
	}
	return t
}

// matches tests a slot.
func (t *term) matches(at *slot, q *query) bool {
	switch t.kind {
	case termLabel:
		return t.label.Matches(labels.Set(at.now.meta.Labels))
	case termField:
		return at.isIn(t.fields) != t.not
	case termName:
		return slices.Contains(t.names, at.key.Name) != t.not
	case termNamespace:
		return slices.Contains(t.names, at.key.Namespace) != t.not
	}
	return q.namespace == metav1.NamespaceAll || at.key.Namespace == q.namespace
}

// each calls test, once, for the candidates of a term until it returns false. The caller holds the lock.
func (s *store) each(t *term, q *query, test func(*slot) bool) {
	switch t.kind {
	case termScope:
		s.all(q.namespace, test)
	case termName:
		if q.namespace != metav1.NamespaceAll {
			eachNamed(s.namespaces[q.namespace], t.names, test)
			return
		}
		for _, names := range s.namespaces {
			if !eachNamed(names, t.names, test) {
				return
			}
		}
	case termNamespace:
		for _, namespace := range t.names {
			for _, at := range s.namespaces[namespace] {
				if !test(at) {
					return
				}
			}
		}
	default:
		for i, p := range t.postings {
			for _, at := range p.slots {
				// An object can have several of the values of a field.
				if t.kind == termField && at.isIn(t.postings[:i]) {
					continue
				}
				if !test(at) {
					return
				}
			}
		}
	}
}

// eachNamed says whether test wants more.
func eachNamed(slots map[string]*slot, names []string, test func(*slot) bool) bool {
	for _, name := range names {
		if at := slots[name]; at != nil && !test(at) {
			return false
		}
	}
	return true
}

// isIn says whether a slot is in one of some postings.
func (s *slot) isIn(postings []*posting) bool {
	for _, p := range postings {
		if s.find(p) >= 0 {
			return true
		}
	}
	return false
}
