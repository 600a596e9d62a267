package store

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	steps      *prometheus.HistogramVec
	changes    prometheus.Counter
	generation prometheus.Gauge
	statements prometheus.Counter
}

func newMetrics() *metrics {
	return &metrics{
		steps: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "repoglot_store_step_seconds",
			Help:    "Duration of steps, waiting for the writer included, by result.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60},
		}, []string{"result"}),
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "repoglot_store_changes_total",
			Help: "Change entries written.",
		}),
		generation: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "repoglot_store_generation",
			Help: "Newest generation that this process wrote or found when it started.",
		}),
		statements: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "repoglot_store_statements_total",
			Help: "SQL statements run.",
		}),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.steps, m.changes, m.generation, m.statements}
}
