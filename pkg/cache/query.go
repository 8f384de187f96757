package cache

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"

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
	s, _, err := c.claim(p, f)
	if err != nil {
		return err
	}
	return s.addField(field, f, extractValue)
}

// addField adds an index, and puts what is there into it.
func (s *store) addField(name string, f form, extract func(client.Object) []string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	forms := s.indexes.fields[name]
	if forms[f] != nil || name == fieldName || name == fieldNamespace || name == fieldOwnerUID {
		return fmt.Errorf("%s: field %q has an index already", s.gvk.Kind, name)
	}
	ix := &fieldIndex{index: *newIndex(name), form: f, extract: extract}
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
	field    *posting            // tested by membership, or the lack of it
	name     string
	not      bool
	kind     termKind
}

type termKind uint8

const (
	termScope termKind = iota // the namespace, or everything
	termLabel
	termField
	termName
	termNotNamespace
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

// fieldTerm turns a condition on a field into a term. One on the namespace narrows the query instead; its term then has
// the kind termScope, and the size 0 if it excludes everything.
func (s *store) fieldTerm(q *query, r *fields.Requirement) (term, error) {
	not := r.Operator == selection.NotEquals
	if !not && r.Operator != selection.Equals && r.Operator != selection.DoubleEquals {
		return term{}, fmt.Errorf("%s: field selector %q: a cache knows = and != only", s.gvk.Kind, r.Field)
	}
	switch r.Field {
	case fieldName:
		t := term{kind: termName, name: r.Value, not: not, size: unbounded}
		if !not {
			t.size = 1
			if q.namespace == metav1.NamespaceAll {
				t.size = len(s.namespaces)
			}
		}
		return t, nil
	case fieldNamespace:
		return s.namespaceTerm(q, r.Value, not), nil
	case fieldOwnerUID:
		return fieldTermOf(s.indexes.owners, r.Value, not), nil
	}
	forms, ok := s.indexes.fields[r.Field]
	if ix := forms[q.form]; ix != nil {
		return fieldTermOf(&ix.index, r.Value, not), nil
	}
	for _, ix := range forms {
		if ok && ix != nil {
			return fieldTermOf(&ix.index, r.Value, not), nil
		}
	}
	return term{}, fmt.Errorf("%s: field %q has no index in the cache: add one with IndexField before selecting by it", s.gvk.Kind, r.Field)
}

func fieldTermOf(ix *index, value string, not bool) term {
	t := term{kind: termField, field: ix.postings[value], not: not, size: unbounded}
	if !not {
		t.size = 0
		if t.field != nil {
			t.size = len(t.field.slots)
			t.postings = []*posting{t.field}
		}
	}
	return t
}

func (s *store) namespaceTerm(q *query, namespace string, not bool) term {
	pass := term{kind: termScope, size: 1}
	if !not {
		if q.namespace != metav1.NamespaceAll && q.namespace != namespace || !s.namespaced && namespace != "" {
			return term{kind: termScope}
		}
		q.namespace = namespace
		return pass
	}
	if q.namespace == namespace && (s.namespaced || namespace == "") {
		return term{kind: termScope}
	}
	if q.namespace != metav1.NamespaceAll || !s.namespaced {
		return pass
	}
	return term{kind: termNotNamespace, name: namespace, size: unbounded}
}

// matches tests a slot.
func (t *term) matches(at *slot, q *query) bool {
	switch t.kind {
	case termLabel:
		return t.label.Matches(labels.Set(at.now.meta.Labels))
	case termField:
		return (t.field != nil && at.find(t.field) >= 0) != t.not
	case termName:
		return (at.key.Name == t.name) != t.not
	case termNotNamespace:
		return at.key.Namespace != t.name
	}
	return q.namespace == metav1.NamespaceAll || at.key.Namespace == q.namespace
}

// each calls test for the candidates of a term until it returns false. The caller holds the lock.
func (s *store) each(t *term, q *query, test func(*slot) bool) {
	switch {
	case t.kind == termScope:
		s.all(q.namespace, test)
	case t.kind == termName && !t.not:
		if q.namespace != metav1.NamespaceAll {
			if at := s.namespaces[q.namespace][t.name]; at != nil {
				test(at)
			}
			return
		}
		for _, names := range s.namespaces {
			if at := names[t.name]; at != nil && !test(at) {
				return
			}
		}
	default:
		for _, p := range t.postings {
			for _, at := range p.slots {
				if !test(at) {
					return
				}
			}
		}
	}
}

// OwnedBy selects, in a List from a cache or in [All], the objects that have an owner reference to the UID, from an
// index that every store has. API servers do not know the field.
func OwnedBy(owner types.UID) client.ListOption { return ownedBy(owner) }

type ownedBy types.UID

// ApplyToList implements client.ListOption.
func (o ownedBy) ApplyToList(opts *client.ListOptions) {
	sel := fields.OneTermEqualSelector(fieldOwnerUID, string(o))
	if opts.FieldSelector != nil && !opts.FieldSelector.Empty() {
		sel = fields.AndSelectors(opts.FieldSelector, sel)
	}
	opts.FieldSelector = sel
}
