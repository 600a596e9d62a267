package schedule

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// How a run ended, for the metrics and the log.
const (
	succeeded = "ok"
	failed    = "failed"
	cancelled = "cancelled" // the job was removed, or the Scheduler stopped
)

// metrics counts the runs that ended.
type metrics struct {
	runs *prometheus.CounterVec
	took prometheus.Histogram
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
	}
	for _, result := range []string{succeeded, failed, cancelled} {
		m.runs.WithLabelValues(result) // shown from the start
	}
	return m
}

func (m *metrics) observe(result string, took time.Duration) {
	m.runs.WithLabelValues(result).Inc()
	if result != cancelled {
		m.took.Observe(took.Seconds())
	}
}

// Metrics returns the Scheduler's collectors, to be registered once. They have no
// labels for keys and hosts: an installation has thousands of keys, and its users
// choose the names of hosts. [Scheduler.States] has both.
func (s *Scheduler) Metrics() []prometheus.Collector {
	gauge := func(name, help string, value func(statistics) int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "repoglot_schedule_" + name, Help: help}, func() float64 { return float64(value(s.statistics())) })
	}
	return []prometheus.Collector{
		s.metrics.runs, s.metrics.took,
		gauge("running", "Runs in progress.", func(now statistics) int { return now.running }),
		gauge("queue_length", "Jobs that are due and wait for a worker or for their host.", func(now statistics) int { return now.queued }),
		gauge("failing_jobs", "Jobs whose last run failed.", func(now statistics) int { return now.failing }),
		gauge("down_hosts", "Hosts that are taken to be unreachable.", func(now statistics) int { return now.down }),
	}
}

// statistics are the values of the gauges at one moment.
type statistics struct {
	running int // runs in progress
	queued  int // jobs that are due and do not run
	failing int // jobs whose last run failed
	down    int // hosts that are down
}

func (s *Scheduler) statistics() statistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := statistics{running: s.running}
	now := time.Now()
	for _, e := range s.jobs {
		// By the clock: the loop may not have looked at the queue yet.
		if e.planned && !e.due.After(now) {
			c.queued++
		}
		if e.status == Failed && !e.removed {
			c.failing++
		}
	}
	for _, h := range s.hosts {
		if h.down() {
			c.down++
		}
	}
	return c
}
