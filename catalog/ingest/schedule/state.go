package schedule

import (
	"cmp"
	"slices"
	"time"
)

// Status is the status of a job.
type Status int

const (
	// Pending: no run has finished yet, and none is in progress.
	Pending Status = iota
	// Running: a run is in progress, the first or a later one.
	Running
	// OK: the last run succeeded.
	OK
	// Failed: the last run failed.
	Failed
)

// String returns the status in lower case, as /readyz shows it.
func (s Status) String() string {
	if s < Pending || s > Failed {
		return "unknown"
	}
	return [...]string{"pending", "running", "ok", "failed"}[s]
}

// State is the state of one job. The time of an event that has not happened is
// zero.
type State struct {
	// Key and Host are Job.Key and Job.Host.
	Key, Host string
	// Status of the job now.
	Status Status
	// Err is the error of the last finished run, nil after a success and before the
	// first run. It stays while the next run is in progress.
	Err error
	// Attempts counts the runs that were started.
	Attempts int
	// Failures counts the failed runs since the last success.
	Failures int
	// LastStart is when the last run began, LastEnd when the last run ended that was
	// not cut short by a stop, LastGood when the last success ended.
	LastStart, LastEnd, LastGood time.Time
	// Next is when the next run may start, if a worker is free. It is in the past
	// while the job waits for a worker, and zero while a run is in progress or if
	// only a trigger starts the next one.
	Next time.Time
}

// Finished reports whether a run has finished, with success or not.
func (s State) Finished() bool { return !s.LastEnd.IsZero() }

// States returns the states of all jobs of the set, by key.
func (s *Scheduler) States() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	states := make([]State, 0, len(s.jobs))
	for _, e := range s.jobs {
		if !e.removed {
			states = append(states, e.state())
		}
	}
	slices.SortFunc(states, func(a, b State) int { return cmp.Compare(a.Key, b.Key) })
	return states
}

func (e *entry) state() State {
	st := State{
		Key: e.job.Key, Host: e.job.Host, Status: e.status, Err: e.err,
		Attempts: e.attempts, Failures: e.failures,
		LastStart: e.lastStart, LastEnd: e.lastEnd, LastGood: e.lastGood,
	}
	if e.run != nil && !e.run.dropped {
		st.Status = Running
	}
	if e.planned {
		st.Next = e.due
		if h := e.host; h.down() && !e.ignoresDown() && h.until.After(e.due) {
			st.Next = h.until
		}
	}
	return st
}

// FirstRound returns a channel that is closed when every job of the set has finished
// once, with success or not, for the first time.
func (s *Scheduler) FirstRound() <-chan struct{} { return s.firstRound }

// checkFirstRound closes firstRound if all jobs have finished once. The caller holds s.mu.
func (s *Scheduler) checkFirstRound() {
	if !s.set || s.unfinished > 0 {
		return
	}
	select {
	case <-s.firstRound:
	default:
		close(s.firstRound)
	}
}
