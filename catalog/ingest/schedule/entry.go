package schedule

import (
	"context"
	"time"
)

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

	// planned says that it runs next when it is due; otherwise it runs, or waits for a
	// trigger.
	planned bool
	due     time.Time
	seq     uint64
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

// byRank is the order of due entries: by due time, with triggered entries moved forward by
// triggerLead. Of equal entries, the one that was planned first comes first.
func byRank(a, b *entry) bool {
	if ra, rb := a.rank(), b.rank(); !ra.Equal(rb) {
		return ra.Before(rb)
	}
	return a.seq < b.seq
}

// urgent reports whether e goes before others, whatever their hosts run.
func (e *entry) urgent(now time.Time) bool {
	return e.triggered || now.Sub(e.due) > triggerLead
}

// ignoresDown reports whether e does not wait for a host that is down: the run was
// triggered, or is the first.
func (e *entry) ignoresDown() bool { return e.triggered || e.lastEnd.IsZero() }

// plan makes e due at a time. The caller holds s.mu; e is not running.
func (s *Scheduler) plan(e *entry, due time.Time) {
	s.seq++
	e.planned, e.due, e.seq = true, due, s.seq
}
