package schedule

import "container/heap"

// A queue is a heap of entries that knows the index of each, so that any of them
// can be removed. An entry is in at most one queue.
type queue struct {
	less    func(a, b *entry) bool
	entries []*entry
}

// byDue puts the earliest due time first.
func byDue(a, b *entry) bool { return a.due.Before(b.due) }

// byRank is byDue with triggered entries moved forward by triggerLead. Of equal
// entries, the one that was planned first comes first.
func byRank(a, b *entry) bool {
	if ra, rb := a.rank(), b.rank(); !ra.Equal(rb) {
		return ra.Before(rb)
	}
	return a.seq < b.seq
}

// head returns the first entry, nil in an empty queue.
func (q *queue) head() *entry {
	if len(q.entries) == 0 {
		return nil
	}
	return q.entries[0]
}

// add puts e, which is in no queue, into q.
func (q *queue) add(e *entry) {
	e.queue = q
	heap.Push((*heapOf)(q), e)
}

// leave removes e from its queue, if it is in one.
func (e *entry) leave() {
	if e.queue != nil {
		heap.Remove((*heapOf)(e.queue), e.index)
		e.queue = nil
	}
}

// heapOf is queue for container/heap, whose methods must be exported.
type heapOf queue

func (h *heapOf) Len() int           { return len(h.entries) }
func (h *heapOf) Less(i, j int) bool { return h.less(h.entries[i], h.entries[j]) }

func (h *heapOf) Swap(i, j int) {
	h.entries[i], h.entries[j] = h.entries[j], h.entries[i]
	h.entries[i].index, h.entries[j].index = i, j
}

func (h *heapOf) Push(x any) {
	e := x.(*entry)
	e.index = len(h.entries)
	h.entries = append(h.entries, e)
}

func (h *heapOf) Pop() any {
	last := len(h.entries) - 1
	e := h.entries[last]
	h.entries[last] = nil // or the array would keep removed jobs alive
	h.entries = h.entries[:last]
	return e
}
