package schedule

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/repoglot/repoglot/catalog/store/cluster"
)

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
