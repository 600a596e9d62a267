package server

import (
	"maps"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// pullMetrics tells when branches were last known to be up to date.
type pullMetrics struct {
	pulls *supervisor
	named bool // by component, also private ones: for an address of its own
}

var (
	buildInfo  = prometheus.NewDesc("repoglot_build_info", "1, with the version of the program.", []string{"version", "goversion"}, nil)
	oldestPull = prometheus.NewDesc("repoglot_oldest_pull_timestamp_seconds",
		"When the branch that was pulled the longest time ago was last known to be up to date; 0 if one was never pulled.", nil, nil)
	lastPull = prometheus.NewDesc("repoglot_last_pull_timestamp_seconds",
		"When a component was last known to be up to date; 0 if it was never pulled. On metrics_listen only.", []string{"project", "component"}, nil)
)

// Describe implements prometheus.Collector.
func (m pullMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- buildInfo
	ch <- oldestPull
	if m.named {
		ch <- lastPull
	}
}

// Collect implements prometheus.Collector. A branch is known to be up to date since the end
// of its last good pull, or now if that was the last one and its repository is watched.
func (m pullMetrics) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(buildInfo, prometheus.GaugeValue, 1, m.pulls.engine.options.Version, runtime.Version())
	plan, states := m.pulls.snapshot()
	m.pulls.mu.Lock()
	watched := maps.Clone(m.pulls.watched)
	m.pulls.mu.Unlock()
	now := time.Now()
	oldest := now
	for i := range plan.branches {
		b := &plan.branches[i]
		at := states[b.Key].LastGood
		if !at.IsZero() && watched[b.Key] && states[b.Key].Err == nil {
			at = now
		}
		if at.Before(oldest) {
			oldest = at
		}
		if !m.named {
			continue
		}
		for _, c := range b.Components {
			ch <- prometheus.MustNewConstMetric(lastPull, prometheus.GaugeValue, seconds(at), c.Spec.Project, c.Spec.Slug)
		}
	}
	ch <- prometheus.MustNewConstMetric(oldestPull, prometheus.GaugeValue, seconds(oldest))
}

// seconds is a time as Prometheus has it; 0 for the zero time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
