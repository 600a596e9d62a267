package schedule

import "time"

// downAfter is how many jobs of a host must have failed, with no success in
// between, until the host counts as down. With 1, a deleted repository would hold
// up the others on its host.
const downAfter = 3

// host is a machine with its limit and its health. memory.mu guards all fields.
type host struct {
	name    string // empty: local
	jobs    int
	running int

	// failing are the keys that failed since the last success.
	failing map[string]bool
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

// failed records that a run of a row failed. delay returns the time to wait after n
// failures in a row. It reports whether the host goes down with this failure. The local
// host never does.
func (h *host) failed(r *row, now time.Time, delay func(n int) time.Duration) (wentDown bool) {
	if h.name == "" {
		return false
	}
	h.failing[r.job.Key] = true
	switch {
	case !h.down() && len(h.failing) >= min(downAfter, h.jobs):
		wentDown = true
	case h.down() && !r.lastStart.Before(h.until):
		// A probe. Runs that began before it failed in the same outage.
	default:
		return false
	}
	h.probes++
	h.until = now.Add(delay(h.probes))
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
func (h *host) prefers(a, b *row) bool {
	if asked := a.ignoresDown(); h.down() && asked != b.ignoresDown() {
		return asked
	} else if h.down() && !asked && a.failures != b.failures {
		return a.failures < b.failures
	}
	return byRank(a, b) < 0
}

// waits reports whether a row has to wait for the host, which is down.
func (h *host) waits(r *row, now time.Time) bool {
	return h.down() && !r.ignoresDown() && (h.running > 0 || now.Before(h.until))
}

// admits reports whether the limits allow one more run on h; the package comment
// explains the rule for the last worker.
func (m *memory) admits(h *host) bool {
	free := m.opts.Workers - len(m.running)
	switch {
	case free <= 0:
		return false
	case h.name == "":
		return true
	case h.running >= m.perHost:
		return false
	case free == 1 && m.opts.Workers > 1 && len(m.hosts) > 1:
		return h.running == 0 && (!h.down() || m.spareForUp())
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
