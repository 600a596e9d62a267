package schedule

import (
	"container/heap"
	"context"
	"time"
)

// A queue is a heap of entries that knows the index of each, so that any of them
// can be removed. An entry is in at most one queue.
type queue struct {
	less    func(a, b *entry) bool
	entries []*entry
}

func byDue(a, b *entry) bool { return a.due.Before(b.due) }

// byRank is byDue with triggered entries moved forward by triggerLead. Of equal
// entries, the one that was planned first comes first.
func byRank(a, b *entry) bool {
	if ra, rb := a.rank(), b.rank(); !ra.Equal(rb) {
		return ra.Before(rb)
	}
	return a.seq < b.seq
}

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

// triggerLead is how far a trigger moves a job forward among the jobs that are
// due. It does not overtake jobs that have been due for longer: otherwise a stream
// of webhooks could keep polled repositories waiting for ever.
const triggerLead = 10 * time.Minute

// An entry is a job with its schedule and its past. Scheduler.mu guards all
// fields.
type entry struct {
	job  Job
	host *host
	// run is the run in progress, or nil.
	run *run
	// removed says that the set no longer holds the job; the entry goes when
	// its run ends.
	removed bool

	// queue is Scheduler.waiting (due later), host.ready (due) or nil (running, or
	// not run until triggered); index is the entry's index in it.
	queue *queue
	index int
	due   time.Time
	seq   uint64
	// triggered says that Trigger asked for the next run.
	triggered bool
	// again says that a trigger came during the run in progress.
	again bool

	// See State.
	status                       Status // of the last finished run; Pending before
	err                          error
	attempts, failures           int
	lastStart, lastEnd, lastGood time.Time
}

// A run is one call of Job.Run.
type run struct {
	host   *host // may differ from the entry's after a Set
	start  time.Time
	cancel context.CancelCauseFunc
	// dropped says that the job was removed meanwhile: the outcome does not count,
	// even if the key is back in the set.
	dropped bool
	excused bool // its failure does not count, see Options.Excused
}

// rank is the time by which entries that are due are ordered.
func (e *entry) rank() time.Time {
	if e.triggered {
		return e.due.Add(-triggerLead)
	}
	return e.due
}

// urgent reports whether e goes before others, whatever their hosts run.
func (e *entry) urgent(now time.Time) bool {
	return e.triggered || now.Sub(e.due) > triggerLead
}

// ignoresDown reports whether e does not wait for a host that is down: the run was
// triggered, or is the first.
func (e *entry) ignoresDown() bool { return e.triggered || e.lastEnd.IsZero() }

// plan makes e due at a time. The caller holds s.mu; e is not running.
func (s *Scheduler) plan(e *entry, due, now time.Time) {
	e.leave()
	s.seq++
	e.due, e.seq = due, s.seq
	if due.After(now) {
		s.waiting.add(e)
	} else {
		e.host.ready.add(e)
	}
}
