package schedule

import (
	"cmp"
	"slices"
	"time"
)

// Status is how a job stands.
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

// String is the status in lower case, as /readyz shows it.
func (s Status) String() string {
	switch s {
	case Pending:
		return "pending"
	case Running:
		return "running"
	case OK:
		return "ok"
	case Failed:
		return "failed"
	}
	return "unknown"
}

// State is how one job stands. Times are zero for what has not happened.
type State struct {
	// Key and Host are the job's.
	Key, Host string
	// Status of the job now.
	Status Status
	// Err is the error of the last finished run, nil if that succeeded or there
	// was none. It stays while the next run is in progress.
	Err error
	// Attempts counts the runs that were started.
	Attempts int
	// Failures counts the failed runs since the last success.
	Failures int
	// LastStart is when the last run began, LastEnd when the last one that was
	// not cut short by a stop ended, LastGood when the last success ended.
	LastStart, LastEnd, LastGood time.Time
	// Next is when the next run may start, if it finds a worker; in the past
	// if it is waiting for one. Zero while a run is in progress, and when only
	// a trigger makes the next.
	Next time.Time
}

// Finished says that a run has finished, well or not.
func (s State) Finished() bool { return !s.LastEnd.IsZero() }

// State returns how the job stands; ok is false if the set does not hold it.
func (s *Scheduler) State(key string) (state State, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.jobs[key]
	if e == nil || e.removed {
		return State{}, false
	}
	return e.state(), true
}

// States returns how all jobs of the set stand, by key.
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
	if e.queue != nil {
		st.Next = e.due
		if h := e.host; h.down() && !e.free() && h.until.After(e.due) {
			st.Next = h.until
		}
	}
	return st
}

// Ready says that every job of the present set has finished once, well or not.
// It is false before the first Set, and again after a Set that brings a new job.
func (s *Scheduler) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.set && s.unfinished == 0
}

// FirstRound is closed when Ready is true for the first time; it stays closed.
func (s *Scheduler) FirstRound() <-chan struct{} { return s.firstRound }

// checkFirstRound closes firstRound if it is time. The caller holds s.mu.
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
