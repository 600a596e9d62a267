package schedule

import (
	"errors"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
)

// stall is the last run that failed since the disk of the database is full. It concerns
// all branches and all processes: each process tries one branch in a third of a lease,
// until that one is pulled, or for the length of a lease.
type stall struct {
	branch string // "" for none
	at     time.Time
}

// Problem says why this process takes no lease, or a few; "" if it takes what it can.
func (s *Scheduler) Problem() string {
	if problem := s.roomProblem(); problem != "" {
		return problem
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stalled() {
		return store.ErrFull.Error()
	}
	return ""
}

// roomProblem says why this process has no room; "" if it has, or does not pull.
func (s *Scheduler) roomProblem() string {
	if s.opts.Workers <= 0 {
		return ""
	}
	if err := s.opts.Room(); err != nil {
		return err.Error()
	}
	return ""
}

// stalled reports whether the database was full lately. The caller holds s.mu.
func (s *Scheduler) stalled() bool {
	return s.stall.branch != "" && time.Since(s.stall.at) < s.opts.Length
}

// noteFull remembers that a run failed since the database is full, and forgets it when
// the same branch ends otherwise.
func (s *Scheduler) noteFull(branch string, err error) {
	if s.alone != nil {
		return // its jobs wait by their backoff, and a trigger is not held up
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(err, store.ErrFull):
		s.stall = stall{branch: branch, at: time.Now()}
	case s.stall.branch == branch:
		s.stall = stall{}
	}
}

// mayTake reports whether this process may take a lease, and logs when a problem begins
// and ends.
func (s *Scheduler) mayTake() bool {
	problem := s.roomProblem()
	s.mu.Lock()
	pause := problem != ""
	if !pause && s.stalled() {
		problem = store.ErrFull.Error()
		pause = len(s.running) > 0 || time.Since(s.stall.at) < s.opts.Length/3
	}
	was := s.paused
	s.paused = problem != ""
	s.mu.Unlock()
	switch {
	case problem != "" && !was:
		s.opts.Logger.Warn("this process pauses its pulls", "error", problem)
	case problem == "" && was:
		s.opts.Logger.Info("this process pulls again")
	}
	return !pause
}
