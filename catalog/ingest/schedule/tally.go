package schedule

import "time"

// A result is how a run ended, as the metrics name it.
type result int

const (
	resultOK result = iota
	resultFailed
	// resultCancelled: the job was removed or the Scheduler stopped.
	resultCancelled
	results // how many there are
)

// String is the result as the label of a metric and in the log.
func (r result) String() string { return [...]string{"ok", "failed", "cancelled"}[r] }

// tookBuckets is the number of buckets for the time that runs take: 10 ms, then
// four times as much each, up to 44 minutes. What takes longer is in none.
const tookBuckets = 10

// bucketBound is the upper bound, inclusive, of bucket i.
func bucketBound(i int) time.Duration { return 10 * time.Millisecond << (2 * i) }

// A tally counts the runs of a Scheduler. Guarded by Scheduler.mu.
type tally struct {
	runs [results]uint64
	// took counts runs that were not cancelled by the smallest bucket that
	// holds them; sum is the time they took together.
	took [tookBuckets]uint64
	sum  time.Duration
}

// add counts a run.
func (t *tally) add(r result, took time.Duration) {
	t.runs[r]++
	if r == resultCancelled {
		return
	}
	t.sum += took
	for i := range t.took {
		if took <= bucketBound(i) {
			t.took[i]++
			return
		}
	}
}

// A census is how things stand at one moment.
type census struct {
	tally
	running int // runs in progress
	queued  int // jobs that are due and do not run
	failing int // jobs whose last run failed
	down    int // hosts that are down
}

// census counts.
func (s *Scheduler) census() census {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := census{tally: s.tally, running: s.running}
	now := s.opts.Now()
	for _, e := range s.jobs {
		// By the clock: the loop may not have looked at the queue yet.
		if e.queue != nil && !e.due.After(now) {
			c.queued++
		}
		if e.status == Failed && !e.removed {
			c.failing++
		}
	}
	for _, h := range s.hosts {
		if h.down() {
			c.down++
		}
	}
	return c
}
