package cache

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/operon-dev/operon/pkg/client"
)

// slot is the place of one key in a store. It stays the same while the object's versions pass through it,
// so a change that touches no indexed value touches no index.
type slot struct {
	key client.ObjectKey
	now *entry
	in  []membership
}

// membership remembers where in a posting a slot stands, which makes leaving it cheap however long it is.
type membership struct {
	posting *posting
	at      int32
}

// posting is the set of slots that have one value in one index.
type posting struct {
	of    *index
	value string
	slots []*slot
}

// index finds slots by a value. The strings it holds are the ones the entries share.
type index struct {
	name     string
	postings map[string]*posting
	total    int // memberships in all postings
}

// fieldIndex is an index that a user registered, and the form of the object its function wants.
type fieldIndex struct {
	index
	form    form
	extract func(client.Object) []string
}

func newIndex(name string) *index {
	return &index{name: name, postings: map[string]*posting{}}
}

// posting is the posting of a value, made if it is not there.
func (ix *index) posting(value string) *posting {
	p := ix.postings[value]
	if p == nil {
		p = &posting{of: ix, value: value}
		ix.postings[value] = p
	}
	return p
}

func (p *posting) add(s *slot) {
	s.in = append(s.in, membership{posting: p, at: int32(len(p.slots))})
	p.slots = append(p.slots, s)
	p.of.total++
}

// remove takes a slot out of the posting that its i-th membership names.
func (s *slot) remove(i int) {
	m := s.in[i]
	p := m.posting
	last := len(p.slots) - 1
	moved := p.slots[last]
	p.slots[m.at] = moved
	p.slots[last] = nil
	p.slots = p.slots[:last]
	if moved != s {
		moved.in[moved.find(p)].at = m.at
	}
	p.of.total--
	if last == 0 {
		delete(p.of.postings, p.value)
	}
	end := len(s.in) - 1
	s.in[i] = s.in[end]
	s.in[end] = membership{}
	s.in = s.in[:end]
}

// find is the position of a posting among the slot's memberships, or -1.
func (s *slot) find(p *posting) int {
	for i := range s.in {
		if s.in[i].posting == p {
			return i
		}
	}
	return -1
}

// indexes are all the indexes of a store but the one by key. Guarded by the store's lock.
type indexes struct {
	labels map[string]*index
	owners *index
	fields map[string][numForms]*fieldIndex

	wanted []*posting // scratch
}

func newIndexes() indexes {
	return indexes{labels: map[string]*index{}, owners: newIndex(fieldOwnerUID), fields: map[string][numForms]*fieldIndex{}}
}

// update moves a slot to the postings its present entry asks for, and makes the entry share their strings.
// The entry is not published yet.
func (x *indexes) update(r *resource, s *slot) {
	wanted := x.wanted[:0]
	m := s.now.meta
	for k, v := range m.Labels {
		ix := x.labels[k]
		if ix == nil {
			ix = newIndex(k)
			x.labels[k] = ix
		}
		p := ix.posting(v)
		if !s.now.sharesLabels {
			m.Labels[ix.name] = p.value
		}
		wanted = append(wanted, p)
	}
	for i := range m.OwnerReferences {
		o := &m.OwnerReferences[i]
		p := x.owners.posting(string(o.UID))
		if !s.now.sharesOwners {
			o.UID = types.UID(p.value)
		}
		wanted = append(wanted, p)
	}
	for _, forms := range x.fields {
		for _, ix := range forms {
			if ix != nil {
				wanted = ix.values(r, s.now, wanted)
			}
		}
	}
	x.settle(s, wanted)
	clear(wanted)
	x.wanted = wanted[:0]
}

// settle enters the postings that are new and leaves those that are no longer wanted, in this order: an index
// that is empty in between would be dropped.
func (x *indexes) settle(s *slot, wanted []*posting) {
	if s.in == nil {
		s.in = make([]membership, 0, len(wanted))
	}
	for _, p := range wanted {
		// A value can be there twice: two references to one owner, a function that repeats itself.
		if s.find(p) < 0 {
			p.add(s)
		}
	}
	for i := len(s.in) - 1; i >= 0; i-- {
		if p := s.in[i].posting; position(wanted, p) < 0 {
			s.remove(i)
			x.dropEmptyLabel(p.of)
		}
	}
}

// clear takes a slot out of every posting.
func (x *indexes) clear(s *slot) {
	for len(s.in) > 0 {
		ix := s.in[len(s.in)-1].posting.of
		s.remove(len(s.in) - 1)
		x.dropEmptyLabel(ix)
	}
}

func (x *indexes) dropEmptyLabel(ix *index) {
	if ix.total == 0 && x.labels[ix.name] == ix {
		delete(x.labels, ix.name)
	}
}

// values appends the postings of an entry's values. An object that cannot be viewed in the form the function wants has
// none.
func (ix *fieldIndex) values(r *resource, e *entry, wanted []*posting) []*posting {
	obj, err := e.view(r, ix.form)
	if err != nil {
		return wanted
	}
	for _, v := range ix.extract(obj) {
		wanted = append(wanted, ix.posting(v))
	}
	return wanted
}

func position(postings []*posting, p *posting) int {
	for i := range postings {
		if postings[i] == p {
			return i
		}
	}
	return -1
}
