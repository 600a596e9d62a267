package schedule

import "time"

// Set replaces the set of jobs, at start and on every reload of the
// configuration. New keys run as soon as a worker is free. Keys that are gone
// are forgotten: Set cancels the context of a run in progress with [ErrRemoved]
// and does not wait for it. All other keys keep their schedule, their backoff and
// their run in progress, and use the new Run from the next run on; if the
// interval changed, they are due one new interval after the end of the last run.
// A key that comes back while its cancelled run still works starts anew when that
// run has returned. Of two jobs with one key the later counts. After a change of
// what a job does under its key, such as other credentials, call
// [Scheduler.Trigger].
func (s *Scheduler) Set(jobs []Job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	wanted := make(map[string]Job, len(jobs))
	for _, job := range jobs {
		wanted[job.Key] = job
	}
	for key, e := range s.jobs {
		if _, ok := wanted[key]; !ok && !e.removed {
			s.remove(e)
		}
	}
	for _, job := range jobs { // in the order given: the first runs first
		job, ok := wanted[job.Key]
		if !ok {
			continue // seen already
		}
		delete(wanted, job.Key)
		switch e := s.jobs[job.Key]; {
		case e == nil:
			s.add(job, now)
		case e.removed:
			s.revive(e, job)
		default:
			s.change(e, job)
		}
	}
	s.set = true
	s.checkFirstRound()
	s.wakeUp()
}

// add adds a new job, due at once.
func (s *Scheduler) add(job Job, now time.Time) {
	e := &entry{job: job}
	s.jobs[job.Key] = e
	s.unfinished++
	s.joinHost(e, job.Host)
	s.plan(e, now)
}

// remove removes e from the set, and forgets it unless it runs.
func (s *Scheduler) remove(e *entry) {
	e.planned = false
	e.removed = true
	if e.lastEnd.IsZero() {
		s.unfinished--
	}
	if e.run != nil {
		e.run.dropped = true
		e.run.cancel(ErrRemoved)
		return
	}
	s.drop(e)
}

// drop forgets e, which does not run.
func (s *Scheduler) drop(e *entry) {
	s.leaveHost(e)
	delete(s.jobs, e.job.Key)
}

// revive makes a removed entry whose run has not returned yet a new job. It is
// planned when that run returns.
func (s *Scheduler) revive(e *entry, job Job) {
	s.joinHost(e, job.Host)
	*e = entry{job: job, host: e.host, run: e.run}
	s.unfinished++
}

// change sets the job of e, which stays in the set.
func (s *Scheduler) change(e *entry, job Job) {
	was := e.job
	planned := e.planned
	if was.Host != job.Host {
		s.joinHost(e, job.Host)
	}
	e.job = job
	if e.run != nil {
		return // finish plans by the new job
	}
	due := e.due
	if was.Interval != job.Interval && e.status == OK && !e.triggered {
		if planned = job.Interval > 0; planned {
			due = e.lastEnd.Add(s.jittered(job.Interval))
		} else {
			e.planned = false
		}
	}
	if planned && (!e.planned || !due.Equal(e.due)) {
		s.plan(e, due)
	}
}

// Trigger asks for a run of the job as soon as the limits of workers and host
// allow, without its interval and any backoff. A run that is in progress goes on;
// exactly one more follows it, however many triggers came. Trigger reports whether
// the set holds the job.
func (s *Scheduler) Trigger(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.jobs[key]
	if e == nil || e.removed {
		return false
	}
	if e.run != nil {
		e.again = true
		return true
	}
	if e.triggered {
		return true // it stays where it is
	}
	e.triggered = true
	now := time.Now()
	due := now
	if e.planned && e.due.Before(now) {
		due = e.due // an overdue job does not fall back
	}
	s.plan(e, due)
	s.wakeUp()
	return true
}
