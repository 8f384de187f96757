package priorityqueue

import "github.com/operon-dev/operon/pkg/reconcile"

// place says where an entry waits. Whether its key is taken is another matter: a taken key may wait, too.
type place uint8

const (
	nowhere place = iota // the key is taken, and was not added since
	delayed              // until its time comes
	held                 // due, but the key is taken: until Done
	due                  // for a worker
)

// entry is all that a queue knows about a key. It exists while the key waits or is taken.
type entry[T comparable] struct {
	key      T
	place    place
	taken    bool
	priority int // of the key while it waits

	// Why the key waits, nil if that is not known, and how many have added it besides.
	why    *reconcile.Trigger
	merged int

	// An entry is in a list while it is due, in its band's, and while it is taken, in the queue's. It is never both.
	next, prev *entry[T]
	band       *band[T]

	readyAt instant // when a delayed entry becomes due
	seq     uint64  // orders entries with the same readyAt
	at      int     // in the heap of delayed entries

	since instant // when the entry became due, then when its key was taken; kept for metrics alone
}

func (e *entry[T]) before(o *entry[T]) bool {
	if e.readyAt != o.readyAt {
		return e.readyAt < o.readyAt
	}
	return e.seq < o.seq
}

func (e *entry[T]) position() *int { return &e.at }

// list is a first-in, first-out list that runs through its entries.
type list[T comparable] struct {
	head, tail *entry[T]
	len        int
}

func (l *list[T]) push(e *entry[T]) {
	e.next, e.prev = nil, l.tail
	if l.tail == nil {
		l.head = e
	} else {
		l.tail.next = e
	}
	l.tail = e
	l.len++
}

func (l *list[T]) remove(e *entry[T]) {
	if e.prev == nil {
		l.head = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.tail = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.next, e.prev = nil, nil
	l.len--
}

// keptBands is how many bands are kept although they may be empty, so that the usual few priorities cost
// nothing to make.
const keptBands = 16

// band is the list of due entries of one priority.
type band[T comparable] struct {
	priority int
	entries  list[T]
	at       int // in the heap of bands
}

func (b *band[T]) before(o *band[T]) bool { return b.priority > o.priority }
func (b *band[T]) position() *int         { return &b.at }

// bands are the due entries in the order in which they are to be worked on.
type bands[T comparable] struct {
	byPriority map[int]*band[T]
	order      heap[*band[T]] // those that have entries
	recent     *band[T]       // where the last entry went; most entries go where the last one went
	len        int
}

func (s *bands[T]) push(e *entry[T]) {
	b := s.recent
	if b == nil || b.priority != e.priority {
		if b = s.byPriority[e.priority]; b == nil {
			b = &band[T]{priority: e.priority}
			if s.byPriority == nil {
				s.byPriority = map[int]*band[T]{}
			}
			s.byPriority[e.priority] = b
		}
		s.recent = b
	}
	e.band = b
	b.entries.push(e)
	s.len++
	if b.entries.len == 1 {
		s.order.push(b)
	}
}

// first returns the entry that is next. There has to be one.
func (s *bands[T]) first() *entry[T] { return s.order[0].entries.head }

func (s *bands[T]) remove(e *entry[T]) {
	b := e.band
	e.band = nil
	b.entries.remove(e)
	s.len--
	if b.entries.len > 0 {
		return
	}
	s.order.remove(b)
	if len(s.byPriority) > keptBands {
		delete(s.byPriority, b.priority)
		if s.recent == b {
			s.recent = nil
		}
	}
}
