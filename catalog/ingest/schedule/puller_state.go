package schedule

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// stateTime bounds the wait for the table.
const stateTime = 5 * time.Second

// States returns the states of all jobs, by key, as all processes together know
// them; if the table cannot be read, the last ones.
func (p *Puller) States() []State {
	p.finished(context.Background())
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.states)
}

// finished reads the states and reports whether every job has finished once.
func (p *Puller) finished(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	cluster, err := p.opts.Table.State(ctx)
	if err != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.set {
		return false
	}
	p.states = p.states[:0]
	ended := 0
	for i := range cluster.Mirrors {
		m := &cluster.Mirrors[i]
		if _, known := p.jobs[m.Branch]; !known {
			continue
		}
		s := state(m, cluster)
		if s.Finished() {
			ended++
		}
		p.states = append(p.states, s)
	}
	return ended == len(p.jobs)
}

// Stuck is the error of a branch that no process can pull; its text is the reason.
type Stuck string

// Error returns the reason.
func (s Stuck) Error() string { return string(s) }

// state is the state of a mirror as a schedule knows it.
func state(m *cluster.MirrorState, of *cluster.State) State {
	s := State{
		Key: m.Branch, Host: m.Host, Failures: m.Failures, LastStart: m.Started, LastEnd: m.Ended, LastGood: m.Succeeded, Next: m.Due,
	}
	stuck := of.Stuck(m)
	switch {
	case m.Problem != "":
		s.Status, s.Err = Failed, errors.New(m.Problem)
	case stuck != "":
		s.Status, s.Err = Failed, Stuck(stuck)
		if m.Ended.IsZero() {
			s.LastEnd = of.At
		}
	case !m.Ended.IsZero():
		s.Status = OK
	}
	if m.Running(of.At) {
		s.Status = Running
	}
	return s
}

// leaseMetrics counts what this process does.
type leaseMetrics struct {
	taken, lost prometheus.Counter
	runs        *prometheus.HistogramVec
}

func newLeaseMetrics() *leaseMetrics {
	return &leaseMetrics{
		taken: prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_leases_taken_total", Help: "Leases of branches that this process took."}),
		lost:  prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_leases_lost_total", Help: "Leases that this process lost while it pulled."}),
		runs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "repoglot_lease_run_seconds", Help: "Duration of the runs of leases that were not lost, by result: ok, failed, cancelled.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 10),
		}, []string{"result"}),
	}
}

func (m *leaseMetrics) observe(o *cluster.Outcome, took time.Duration) {
	result := "ok"
	switch {
	case o.Cut:
		result = "cancelled"
	case o.Problem != "":
		result = "failed"
	}
	m.runs.WithLabelValues(result).Observe(took.Seconds())
}

// Metrics returns the Puller's collectors, to be registered once.
func (p *Puller) Metrics() []prometheus.Collector {
	full := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "repoglot_leases_paused", Help: "1 while this process pauses its pulls, for want of room on its disk or on the database's."}, func() float64 {
		return float64(min(1, len(p.Problem())))
	})
	return []prometheus.Collector{p.metrics.taken, p.metrics.lost, p.metrics.runs, full}
}
