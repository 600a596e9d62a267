package schedule

import "time"

// A result is how a run ended, in the words of the metrics.
type result int

const (
	resultOK result = iota
	resultFailed
	// resultCancelled: the job was removed or the Scheduler stopped.
	resultCancelled
	results // how many there are
)

// String returns the result for the label of a metric and the log.
func (r result) String() string { return [...]string{"ok", "failed", "cancelled"}[r] }

// tookBuckets is the number of buckets for the duration of runs: 10 ms, then four
// times as much each, up to 44 minutes. Longer runs are in no bucket.
const tookBuckets = 10

// bucketBound returns the upper bound, inclusive, of bucket i.
func bucketBound(i int) time.Duration { return 10 * time.Millisecond << (2 * i) }

// runCounts counts the runs of a Scheduler. Scheduler.mu guards it.
type runCounts struct {
	runs [results]uint64
	// took counts the runs that were not cancelled, each in the smallest bucket that
	// holds it; sum is the sum of their durations.
	took [tookBuckets]uint64
	sum  time.Duration
}

// add counts a run.
func (t *runCounts) add(r result, took time.Duration) {
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

// statistics are the values of the metrics at one moment.
type statistics struct {
	runCounts
	running int // runs in progress
	queued  int // jobs that are due and do not run
	failing int // jobs whose last run failed
	down    int // hosts that are down
}

// statistics returns the values of the metrics.
func (s *Scheduler) statistics() statistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := statistics{runCounts: s.counts, running: s.running}
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
