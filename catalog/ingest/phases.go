package ingest

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The phases of a pull, which the metrics name. Time in none of them is otherPhase's.
const (
	fetchPhase  = "fetch"  // asking the remote, and copying what is new
	walkPhase   = "walk"   // opening the mirror, commits and trees, what is stored of components
	readPhase   = "read"   // reading and parsing files
	applyPhase  = "apply"  // comparing with what is stored, and writing it
	checkPhase  = "check"  // quality checks
	commitPhase = "commit" // counters and the commit of the database
	otherPhase  = "other"
)

// phases shares the time of a pull out among its phases. Phases may be nested: the
// time of the inner one is not the outer one's. Use by one goroutine.
type phases struct {
	now     func() time.Time
	current string
	since   time.Time
	took    map[string]time.Duration
}

func newPhases(now func() time.Time) *phases {
	return &phases{now: now, current: otherPhase, since: now(), took: map[string]time.Duration{}}
}

// begin begins a phase; the returned function ends it.
func (p *phases) begin(name string) (end func()) {
	outer := p.enter(name)
	return func() { p.enter(outer) }
}

func (p *phases) enter(name string) (left string) {
	now := p.now()
	p.took[p.current] += now.Sub(p.since)
	left, p.current, p.since = p.current, name, now
	return left
}

// observe ends the last phase and counts all.
func (p *phases) observe(seconds *prometheus.HistogramVec) {
	p.enter(otherPhase)
	for name, d := range p.took {
		seconds.WithLabelValues(name).Observe(d.Seconds())
	}
}
