package ingest

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics counts pulls; see Syncer.Metrics.
type metrics struct {
	pulls   *prometheus.CounterVec
	seconds prometheus.Histogram
	steps   prometheus.Counter
	changes prometheus.Counter
}

func newMetrics() *metrics {
	return &metrics{
		pulls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "repoglot_pulls_total", Help: "Pulls of a branch, by result.",
		}, []string{"result"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "repoglot_pull_duration_seconds", Help: "Duration of a pull, fetch included.",
			Buckets: prometheus.ExponentialBuckets(0.005, 4, 10),
		}),
		steps: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "repoglot_steps_total", Help: "Transactions that moved components to another commit.",
		}),
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "repoglot_changes_total", Help: "Change entries written.",
		}),
	}
}

func (m *metrics) pull(d time.Duration, r *Report, err error) {
	result := "ok"
	if err != nil {
		result = "failed"
	}
	m.pulls.WithLabelValues(result).Inc()
	m.seconds.Observe(d.Seconds())
	m.steps.Add(float64(r.Steps))
	m.changes.Add(float64(r.Changes))
}

// Metrics returns the collectors of the Syncer.
func (s *Syncer) Metrics() []prometheus.Collector {
	return []prometheus.Collector{s.metrics.pulls, s.metrics.seconds, s.metrics.steps, s.metrics.changes}
}
