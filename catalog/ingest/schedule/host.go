package schedule

import (
	"errors"
	"math"
	"time"

	"github.com/repoglot/repoglot/catalog/store"
)

// downAfter is how many jobs of a host must have failed, with no success in
// between, until the host counts as down. With 1, a deleted repository would hold
// up the others on its host.
const downAfter = 3

// host is a machine with its limit and its health. memory.mu guards all fields.
type host struct {
	name    string // empty: local
	jobs    int
	running int
	failing map[string]bool // the keys that failed since the last success
}

// down reports whether the host seems not to answer. The local host never does.
func (h *host) down() bool {
	return h.name != "" && len(h.failing) > 0 && len(h.failing) >= min(downAfter, h.jobs)
}

// admits reports whether the limits allow a run of r now; the package comment explains the
// rule for the last worker. spare says that hosts which are down may take one more worker.
func (m *memory) admits(r *row, spare bool) bool {
	free, h := m.opts.Workers-len(m.running), r.host
	switch retried := !r.triggered && !r.LastEnd.IsZero(); {
	case free <= 0:
		return false
	case h.name == "":
		return true
	case h.running >= m.perHost, h.running > 0 && retried && h.down():
		return false
	case free == 1 && m.opts.Workers > 1 && len(m.hosts) > 1:
		return h.running == 0 && (spare || !h.down())
	}
	return true
}

// spareForUp reports whether one more worker for a host that is down leaves a
// worker to the hosts that are up, if there are any.
func (m *memory) spareForUp() bool {
	onDown, anyUp := 0, false
	for _, h := range m.hosts {
		if h.down() {
			onDown += h.running
		} else {
			anyUp = true
		}
	}
	return !anyUp || onDown+1 < m.opts.Workers
}

// backoffIntervals is how many intervals of a job its backoff may last.
const backoffIntervals = 16

// Backoff is how long to wait after failures in a row: First, then twice as long
// each time, up to Max. A job that is polled more often than First starts with its interval
// and waits at most sixteen intervals: a local repository that cannot be watched
// is polled every 2 s, and 30 s would be long for it.
type Backoff struct{ First, Max time.Duration }

// delay returns the wait after n failures in a row (n at least 1) of a job with
// an interval, before jitter.
func (b Backoff) delay(n int, interval time.Duration) time.Duration {
	wait, limit := b.First, b.Max
	if interval > 0 {
		wait = min(wait, interval)
		if interval < limit/backoffIntervals {
			limit = interval * backoffIntervals
		}
	}
	for ; n > 1 && wait < limit; n-- {
		if wait > limit/2 {
			return limit
		}
		wait *= 2
	}
	return min(wait, limit)
}

// jitter varies d by up to a tenth, up or down; r in [0, 1) says how far.
func jitter(d time.Duration, r float64) time.Duration {
	varied := float64(d) * (1 + (2*r-1)/10)
	if varied >= math.MaxInt64 {
		return d
	}
	return time.Duration(varied)
}

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
