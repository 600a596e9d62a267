package schedule

import "time"

// downAfter is how many jobs of a host must have failed, with no success in
// between, until the host counts as down. With 1, a deleted repository would hold
// up the others on its host.
const downAfter = 3

// A host is a machine with its limit and its health. Scheduler.mu guards all
// fields.
type host struct {
	name    string // empty: local
	jobs    int    // entries here, including removed ones that still run
	running int    // runs in progress
	first   *entry // what it would run next, as Scheduler.next sees it

	// failing holds the keys that failed since the last success.
	failing map[string]struct{}
	// probes counts the failures in a row since the host went down; 0: it is up.
	probes int
	// until is when the next probe may start, if the host is down.
	until time.Time
}

func (h *host) down() bool { return h.probes > 0 }

// succeeded records a success and reports whether the host was down.
func (h *host) succeeded() (wasDown bool) {
	wasDown = h.down()
	clear(h.failing)
	h.probes, h.until = 0, time.Time{}
	return wasDown
}

// failed records a failed run of a key that began at start. wait returns the time
// to wait after n failures in a row. It reports whether the host goes down with
// this failure. The local host never does.
func (h *host) failed(key string, start, now time.Time, wait func(n int) time.Duration) (wentDown bool) {
	if h.name == "" {
		return false
	}
	h.failing[key] = struct{}{}
	switch {
	case !h.down() && len(h.failing) >= min(downAfter, h.jobs):
		wentDown = true
	case h.down() && !start.Before(h.until):
		// A probe. Runs that began before it failed in the same outage.
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

// prefers reports whether the host would run a before b, if its limits allow both. While it
// is down, those that do not wait for it come first, then those with the fewest failures.
func (h *host) prefers(a, b *entry) bool {
	if asked := a.ignoresDown(); h.down() && asked != b.ignoresDown() {
		return asked
	} else if h.down() && !asked && a.failures != b.failures {
		return a.failures < b.failures
	}
	return byRank(a, b)
}

// waits reports whether an entry has to wait for the host, which is down.
func (h *host) waits(e *entry, now time.Time) bool {
	return h.down() && !e.ignoresDown() && (h.running > 0 || now.Before(h.until))
}

// admits reports whether the limits allow one more run on h; the package comment
// explains the rule for the last worker. The caller holds s.mu.
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

// spareForUp reports whether one more worker for a host that is down leaves a
// worker to the hosts that are up, if there are any. The caller holds s.mu.
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

// joinHost makes e an entry of the named host, and removes it from its former
// one.
func (s *Scheduler) joinHost(e *entry, name string) {
	h := s.hosts[name]
	if h == nil {
		h = &host{name: name, failing: map[string]struct{}{}}
		s.hosts[name] = h
	}
	h.jobs++ // first: otherwise a host that e leaves and joins would be lost
	s.leaveHost(e)
	e.host = h
}

func (s *Scheduler) leaveHost(e *entry) {
	h := e.host
	if h == nil {
		return
	}
	e.planned = false
	e.host = nil
	h.jobs--
	h.forget(e.job.Key)
	s.dropUnused(h)
}

// dropUnused drops h if it has no entries and no runs.
func (s *Scheduler) dropUnused(h *host) {
	if h.jobs == 0 && h.running == 0 {
		delete(s.hosts, h.name)
	}
}
