package priorityqueue

// ranked is what a heap holds: it knows its order, and where in its heap it stands.
type ranked[E any] interface {
	before(E) bool
	position() *int
}

// heap is a binary heap whose first element is before all others, and from whose midst elements can be removed.
type heap[E ranked[E]] []E

func (h *heap[E]) push(e E) {
	*h = append(*h, e)
	*e.position() = len(*h) - 1
	h.up(len(*h) - 1)
}

func (h *heap[E]) remove(e E) {
	i, last := *e.position(), len(*h)-1
	if i != last {
		h.swap(i, last)
	}
	var none E
	(*h)[last] = none
	*h = (*h)[:last]
	if i != last {
		h.fix(i)
	}
}

// fix restores the order after the element at i has changed.
func (h *heap[E]) fix(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

func (h heap[E]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].before(h[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

func (h heap[E]) down(i int) (moved bool) {
	for {
		child := 2*i + 1
		if child >= len(h) {
			return moved
		}
		if right := child + 1; right < len(h) && h[right].before(h[child]) {
			child = right
		}
		if !h[child].before(h[i]) {
			return moved
		}
		h.swap(i, child)
		i, moved = child, true
	}
}

func (h heap[E]) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	*h[i].position() = i
	*h[j].position() = j
}
