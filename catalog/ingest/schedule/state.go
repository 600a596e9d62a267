package schedule

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

// Status is the status of a job.
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

// State is the state of one job. The time of an event that has not happened is
// zero.
type State struct {
	// Key and Host are Job.Key and Job.Host.
	Key, Host string
	// Status of the job now.
	Status Status
	// Err is the error of the last finished run, nil after a success and before the
	// first run. It stays while the next run is in progress.
	Err error
	// Failures counts the failed runs since the last success.
	Failures int
	// LastStart is when the last run began, LastEnd when the last run ended that was
	// not cut short by a stop, LastGood when the last success ended.
	LastStart, LastEnd, LastGood time.Time
	// Next is when the next run may start, if a worker is free. It is in the past
	// while the job waits for a worker, and zero while a run is in progress or if
	// only a trigger starts the next one.
	Next time.Time
}

// Finished reports whether a run has finished, with success or not.
func (s State) Finished() bool { return !s.LastEnd.IsZero() }

// stateTime bounds the wait for the table.
const stateTime = 5 * time.Second

// States returns the states of all jobs, by key, as all processes together know
// them; if the table cannot be read, the last ones.
func (s *Scheduler) States() []State {
	if s.alone != nil {
		return s.alone.states()
	}
	s.finished(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.states)
}

// finished reads the states and reports whether every job has finished once.
func (s *Scheduler) finished(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, stateTime)
	defer cancel()
	var state *cluster.State
	if s.alone == nil {
		var err error
		if state, err = s.opts.Table.State(ctx); err != nil {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.set || s.alone != nil {
		return s.set && s.alone.finished()
	}
	s.states = s.states[:0]
	ended := 0
	for i := range state.Mirrors {
		m := &state.Mirrors[i]
		if _, known := s.jobs[m.Branch]; !known {
			continue
		}
		one := stateOf(m, state)
		if one.Finished() {
			ended++
		}
		s.states = append(s.states, one)
	}
	return ended == len(s.jobs)
}

// Stuck is the error of a branch that no process can pull; its text is the reason.
type Stuck string

// Error returns the reason.
func (s Stuck) Error() string { return string(s) }

// stateOf is the state of a mirror as a schedule knows it.
func stateOf(m *cluster.MirrorState, of *cluster.State) State {
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

// How a run ended, for the metrics.
const (
	succeeded = "ok"
	failed    = "failed"
	cancelled = "cancelled" // the job was removed, or the Scheduler stopped
)

// metrics counts what this process does.
type metrics struct {
	runs        *prometheus.CounterVec
	took        prometheus.Histogram
	taken, lost prometheus.Counter
}

func newMetrics() *metrics {
	m := &metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "repoglot_schedule_runs_total", Help: "Runs that ended, by result: ok, failed, cancelled.",
		}, []string{"result"}),
		took: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "repoglot_schedule_run_duration_seconds", Help: "How long runs took that were not cancelled.",
			Buckets: prometheus.ExponentialBuckets(0.01, 4, 10),
		}),
		taken: prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_leases_taken_total", Help: "Leases of branches that this process took."}),
		lost:  prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_leases_lost_total", Help: "Leases that this process lost while it pulled."}),
	}
	for _, result := range []string{succeeded, failed, cancelled} {
		m.runs.WithLabelValues(result) // shown from the start
	}
	return m
}

func (m *metrics) observe(o *cluster.Outcome, took time.Duration) {
	result := succeeded
	switch {
	case o.Cut:
		result = cancelled
	case o.Err != nil:
		result = failed
	}
	m.runs.WithLabelValues(result).Inc()
	if !o.Cut {
		m.took.Observe(took.Seconds())
	}
}

// Metrics returns the Scheduler's collectors, to be registered once. They have no
// labels for keys and hosts: an installation has thousands of keys, and its users
// choose the names of hosts. [Scheduler.States] has both. In a cluster the gauges of jobs are
// those of all processes, which [cluster.Cluster.State] has.
func (s *Scheduler) Metrics() []prometheus.Collector {
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) })
	}
	list := []prometheus.Collector{s.metrics.runs, s.metrics.took}
	if s.alone == nil {
		return append(list, s.metrics.taken, s.metrics.lost,
			gauge("repoglot_leases_paused", "1 while this process pauses its pulls, for want of room on its disk or on the database's.", func() int { return min(1, len(s.Problem())) }))
	}
	now := s.alone.statistics
	return append(list,
		gauge("repoglot_schedule_running", "Runs in progress.", func() int { return now().running }),
		gauge("repoglot_schedule_queue_length", "Jobs that are due and wait for a worker or for their host.", func() int { return now().queued }),
		gauge("repoglot_schedule_failing_jobs", "Jobs whose last run failed.", func() int { return now().failing }),
		gauge("repoglot_schedule_down_hosts", "Hosts that are taken to be unreachable.", func() int { return now().down }))
}
