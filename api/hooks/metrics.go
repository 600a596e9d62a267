package hooks

import "github.com/prometheus/client_golang/prometheus"

// metrics are the metrics of a Server. Their labels are bounded: services are
// known names.
type metrics struct{ calls *prometheus.CounterVec }

func newMetrics() metrics {
	return metrics{calls: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "repoglot_hooks_total",
		Help: "Calls of webhooks by service and result.",
	}, []string{"service", "result"})}
}

func (m *metrics) collectors() []prometheus.Collector { return []prometheus.Collector{m.calls} }
