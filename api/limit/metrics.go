package limit

import "github.com/prometheus/client_golang/prometheus"

// The metrics of pools, by name.
var (
	usedDesc = prometheus.NewDesc("repoglot_share_used",
		"How much of what clients share is in use: bytes, connections, turns.", []string{"pool"}, nil)
	totalDesc = prometheus.NewDesc("repoglot_share_total",
		"How much of it all clients together may hold.", []string{"pool"}, nil)
	waitingDesc = prometheus.NewDesc("repoglot_share_waiting",
		"Requests that wait for some of it.", []string{"pool"}, nil)
	refusedDesc = prometheus.NewDesc("repoglot_share_refused_total",
		"Requests that got none: the client held its share (client), or all was in use, or the wait took too long (all).", []string{"pool", "reason"}, nil)
)

// Pools are pools with their metrics.
type Pools []*Pool

// Describe implements prometheus.Collector: a registry may have several Pools, so none
// claims the names.
func (Pools) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (ps Pools) Collect(ch chan<- prometheus.Metric) {
	for _, p := range ps {
		p.mu.Lock()
		used, waiting, refused := p.used, len(p.waiting), p.refused
		p.mu.Unlock()
		ch <- prometheus.MustNewConstMetric(usedDesc, prometheus.GaugeValue, float64(used), p.name)
		ch <- prometheus.MustNewConstMetric(totalDesc, prometheus.GaugeValue, float64(p.total), p.name)
		ch <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(waiting), p.name)
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(refused[0]), p.name, "client")
		ch <- prometheus.MustNewConstMetric(refusedDesc, prometheus.CounterValue, float64(refused[1]), p.name, "all")
	}
}
