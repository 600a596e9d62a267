package schedule

import (
	"context"
	"time"
)

// triggerLead is how far a trigger lets a job forward among those that are due.
// Jobs that have been due for longer are not overtaken: else a stream of
// webhooks could keep polled repositories waiting for ever.
const triggerLead = 10 * time.Minute

// An entry is a job with its schedule and its past. Everything is guarded by
// Scheduler.mu.
type entry struct {
	job  Job
	host *host
	// run is the run in progress; nil: none.
	run *run
	// removed says that the set no longer holds the job; the entry goes when
	// its run ends.
	removed bool

	// queue is Scheduler.waiting (due later), host.ready (due) or nil (running,
	// or not to be run until triggered); index is the place in it.
	queue *queue
	index int
	due   time.Time
	seq   uint64
	// triggered says that the next run was asked for.
	triggered bool
	// again says that a trigger came during the run in progress.
	again bool

	// What State tells, see there.
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
	// dropped says that the job was removed meanwhile: the outcome counts for
	// nothing, even if the key is back in the set.
	dropped bool
}

// rank is the time by which e stands among entries that are due.
func (e *entry) rank() time.Time {
	if e.triggered {
		return e.due.Add(-triggerLead)
	}
	return e.due
}

// urgent says that e goes before others whatever their hosts run.
func (e *entry) urgent(now time.Time) bool {
	return e.triggered || now.Sub(e.due) > triggerLead
}

// free says that e need not wait for a host that is down: somebody asked for
// the run, or it is the first.
func (e *entry) free() bool { return e.triggered || e.lastEnd.IsZero() }

// plan makes e due at that time. The caller holds s.mu; e is not running.
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
