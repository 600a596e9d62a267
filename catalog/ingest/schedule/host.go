package schedule

import "time"

// downAfter is how many jobs of a host must have failed, with no success in
// between, for the host to count as down. One would let a deleted repository
// hold up its neighbours.
const downAfter = 3

// A host is what jobs share: a limit, and its health. Everything is guarded by
// Scheduler.mu.
type host struct {
	name    string // empty: local
	jobs    int    // entries here, removed ones that still run included
	running int    // runs in progress
	ready   queue  // entries that are due, by rank

	// failing holds the keys that failed since the last success.
	failing map[string]struct{}
	// probes counts the failures in a row since the host is down; 0: it is up.
	probes int
	// until is when the next probe may start, if the host is down.
	until time.Time
}

// down says that the host is taken to be unreachable.
func (h *host) down() bool { return h.probes > 0 }

// succeeded notes a good run; it reports whether the host was down.
func (h *host) succeeded() (wasDown bool) {
	wasDown = h.down()
	clear(h.failing)
	h.probes, h.until = 0, time.Time{}
	return wasDown
}

// failed notes a failed run of the key that began at start, where wait is the
// time to wait after n failures in a row. It reports whether the host counts as
// down only since now. Local jobs share no fate.
func (h *host) failed(key string, start, now time.Time, wait func(n int) time.Duration) (wentDown bool) {
	if h.name == "" {
		return false
	}
	h.failing[key] = struct{}{}
	switch {
	case !h.down() && len(h.failing) >= min(downAfter, h.jobs):
		wentDown = true
	case h.down() && !start.Before(h.until):
		// A probe. Runs that began before are one and the same outage.
	default:
		return false
	}
	h.probes++
	h.until = now.Add(wait(h.probes))
	return wentDown
}

// forget drops the failures of a key that is no longer here.
func (h *host) forget(key string) {
	delete(h.failing, key)
	if len(h.failing) == 0 {
		h.succeeded()
	}
}

// candidate is the entry that the host would run next, its limits apart; nil:
// none, or not before until.
func (h *host) candidate(now time.Time) *entry {
	if !h.down() {
		return h.ready.head()
	}
	var asked, probe *entry
	for _, e := range h.ready.entries {
		switch {
		case e.free():
			if asked == nil || byRank(e, asked) {
				asked = e
			}
		case probe == nil || e.failures < probe.failures || e.failures == probe.failures && byRank(e, probe):
			probe = e
		}
	}
	if asked == nil && (h.running > 0 || now.Before(h.until)) {
		return nil
	}
	if asked == nil {
		return probe
	}
	return asked
}

// admits says whether the limits allow one more run on h (see the package
// comment for the last worker). The caller holds s.mu.
func (s *Scheduler) admits(h *host) bool {
	free := s.opts.Workers - s.running
	switch {
	case free <= 0:
		return false
	case h.name == "":
		return true
	case h.running >= s.opts.PerHost:
		return false
	case free == 1 && s.opts.Workers > 1 && len(s.hosts) > 1:
		return h.running == 0 && (!h.down() || s.spareForUp())
	}
	return true
}

// spareForUp says that hosts that are down may take one more worker and yet
// leave one to those that are up, if any is. The caller holds s.mu.
func (s *Scheduler) spareForUp() bool {
	onDown, anyUp := 0, false
	for _, h := range s.hosts {
		if h.down() {
			onDown += h.running
		} else {
			anyUp = true
		}
	}
	return !anyUp || onDown+1 < s.opts.Workers
}

// join makes e an entry of the named host, and leaves its former one.
func (s *Scheduler) join(e *entry, name string) {
	h := s.hosts[name]
	if h == nil {
		h = &host{name: name, failing: map[string]struct{}{}, ready: queue{less: byRank}}
		s.hosts[name] = h
	}
	h.jobs++ // first, or a host that e leaves and joins would be lost
	s.part(e)
	e.host = h
}

// part takes e from its host, and drops a host that has nothing left.
func (s *Scheduler) part(e *entry) {
	h := e.host
	if h == nil {
		return
	}
	e.leave()
	e.host = nil
	h.jobs--
	h.forget(e.job.Key)
	s.sweep(h)
}

// sweep drops h if nothing is on it and nothing runs on it.
func (s *Scheduler) sweep(h *host) {
	if h.jobs == 0 && h.running == 0 {
		delete(s.hosts, h.name)
	}
}
