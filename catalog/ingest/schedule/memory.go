package schedule

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// triggerLead is how far a trigger moves a job forward among the jobs that are
// due. It does not overtake jobs that have been due for longer: otherwise a stream
// of webhooks could keep polled repositories waiting for ever.
const triggerLead = 10 * time.Minute

// memory is the table of the jobs of one process. Its leases never expire.
type memory struct {
	opts    *Options
	perHost int

	mu      sync.Mutex
	rows    map[string]*row // by key
	hosts   map[string]*host
	running map[int64]*host // by token: also of rows that are gone
	token   int64           // the last one
	seq     uint64          // the last number of a planned row
}

// row is a job with its schedule and its past.
type row struct {
	job   Job
	host  *host
	token int64 // of the run in progress, or 0

	// planned says that it runs next when it is due; otherwise it runs, or waits for a
	// trigger.
	planned bool
	due     time.Time
	seq     uint64
	// triggered says that a trigger asked for the next run.
	triggered bool

	State // its Status is that of the last finished run; Pending before
}

// set replaces the jobs; the first runs first.
func (m *memory) set(jobs []Job) {
	m.mu.Lock()
	defer m.mu.Unlock()
	wanted := make(map[string]Job, len(jobs))
	for _, job := range jobs {
		wanted[job.Key] = job
	}
	for key, r := range m.rows {
		if _, ok := wanted[key]; !ok {
			delete(m.rows, key)
			m.leave(r)
		}
	}
	for _, job := range jobs {
		job = wanted[job.Key]
		r := m.rows[job.Key]
		if r == nil {
			r = &row{}
			m.rows[job.Key] = r
			m.plan(r, time.Now())
		}
		if r.host == nil || r.host.name != job.Host {
			m.join(r, job)
		}
		polled := r.job.Interval
		r.job = job
		if polled != job.Interval && r.token == 0 && r.Status == OK && !r.triggered {
			if r.planned = job.Interval > 0; r.planned {
				m.plan(r, r.LastEnd.Add(jitter(job.Interval, m.opts.Rand())))
			}
		}
	}
}

// join puts a row on the host of a job.
func (m *memory) join(r *row, job Job) {
	h := m.hosts[job.Host]
	if h == nil {
		h = &host{name: job.Host, failing: map[string]bool{}}
		m.hosts[job.Host] = h
	}
	m.leave(r)
	r.host = h
	h.jobs++
}

func (m *memory) leave(r *row) {
	if h := r.host; h != nil {
		h.jobs--
		delete(h.failing, r.job.Key)
		m.dropUnused(h)
	}
}

// dropUnused drops a host without jobs and runs.
func (m *memory) dropUnused(h *host) {
	if h.jobs == 0 && h.running == 0 && m.hosts[h.name] == h {
		delete(m.hosts, h.name)
	}
}

// plan makes a row due at a time.
func (m *memory) plan(r *row, due time.Time) {
	m.seq++
	r.planned, r.due, r.seq = true, due, m.seq
}

// Take chooses a row that is due, and for which the limits have room.
func (m *memory) Take(_ context.Context, room *cluster.Room) (l cluster.Lease, taken bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now, spare := time.Now(), m.spareForUp()
	var best *row
	for key, r := range m.rows {
		due := r.planned && !r.due.After(now) && !slices.Contains(room.Pulling, key)
		if due && m.admits(r, spare) && (best == nil || before(r, best, now)) {
			best = r
		}
	}
	if best == nil {
		return l, false, nil
	}
	m.token++
	best.token, best.planned, best.triggered, best.LastStart = m.token, false, false, now
	best.host.running++
	m.running[m.token] = best.host
	return cluster.Lease{Fence: cluster.Fence{Branch: best.job.Key, Token: m.token}, Failures: best.Failures}, true, nil
}

// before reports whether a starts before b: urgent ones come first, then those on the host
// with the fewest runs, then the order is by rank, of equal ones by when they were planned.
func before(a, b *row, now time.Time) bool {
	if ua, ub := a.urgent(now), b.urgent(now); ua != ub {
		return ua
	}
	if a.host.running != b.host.running {
		return a.host.running < b.host.running
	}
	return cmp.Or(a.rank().Compare(b.rank()), cmp.Compare(a.seq, b.seq)) < 0
}

// urgent reports whether r goes before others, whatever their hosts run.
func (r *row) urgent(now time.Time) bool { return r.triggered || now.Sub(r.due) > triggerLead }

// rank is the time by which rows that are due are ordered.
func (r *row) rank() time.Time {
	if r.triggered {
		return r.due.Add(-triggerLead)
	}
	return r.due
}

// wait is the time until a row may be due that is not yet, up to an hour.
func (m *memory) wait() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	at := now.Add(time.Hour)
	for _, r := range m.rows {
		if r.planned && r.due.After(now) && r.due.Before(at) {
			at = r.due
		}
	}
	return at.Sub(now)
}

// Renew keeps every lease.
func (m *memory) Renew(context.Context, *cluster.Lease, time.Duration) (bool, error) {
	return true, nil
}

// Give ends a run and plans the next one. What ended counts for nothing if its job was
// removed meanwhile, even if the key is back.
func (m *memory) Give(_ context.Context, l *cluster.Lease, o cluster.Outcome) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := m.running[l.Token]
	delete(m.running, l.Token)
	h.running--
	if r := m.rows[l.Branch]; r != nil && r.token == l.Token {
		r.token = 0
		now := time.Now()
		if !o.Cut {
			record(r, h, &o, now)
		}
		switch {
		case r.triggered:
			m.plan(r, now)
		case o.Next >= 0:
			m.plan(r, now.Add(o.Next))
		}
	}
	m.dropUnused(h)
	return nil
}

// record records the outcome of a run on a host, which may not be that of the row any more.
func record(r *row, h *host, o *cluster.Outcome, now time.Time) {
	r.LastEnd, r.Err = now, o.Err
	if o.Err == nil {
		r.Status, r.Failures, r.LastGood = OK, 0, now
		clear(h.failing)
		return
	}
	r.Status = Failed
	if o.Excused {
		return
	}
	if r.Failures++; h == r.host {
		h.failing[r.job.Key] = true
	}
}

// trigger asks for the next run of a job.
func (m *memory) trigger(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rows[key]
	if r == nil || r.triggered {
		return // it stays where it is
	}
	r.triggered = true
	if r.token != 0 {
		return
	}
	due := time.Now()
	if r.planned && r.due.Before(due) {
		due = r.due // one that is overdue does not fall back
	}
	m.plan(r, due)
}

// states are the states of all jobs, by key.
func (m *memory) states() []State {
	m.mu.Lock()
	defer m.mu.Unlock()
	states := make([]State, 0, len(m.rows))
	for _, r := range m.rows {
		states = append(states, r.state())
	}
	slices.SortFunc(states, func(a, b State) int { return cmp.Compare(a.Key, b.Key) })
	return states
}

func (r *row) state() State {
	s := r.State
	s.Key, s.Host = r.job.Key, r.job.Host
	if r.token != 0 {
		s.Status = Running
	}
	if r.planned {
		s.Next = r.due
	}
	return s
}

// finished reports whether every job has finished once.
func (m *memory) finished() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.rows {
		if r.LastEnd.IsZero() {
			return false
		}
	}
	return true
}

// statistics are the values of the gauges at one moment.
type statistics struct {
	running int // runs in progress
	queued  int // jobs that are due and do not run
	failing int // jobs whose last run failed
	down    int // hosts that are down
}

func (m *memory) statistics() statistics {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := statistics{running: len(m.running)}
	now := time.Now()
	for _, r := range m.rows {
		if r.planned && !r.due.After(now) {
			c.queued++
		}
		if r.Status == Failed {
			c.failing++
		}
	}
	for _, h := range m.hosts {
		if h.down() {
			c.down++
		}
	}
	return c
}
