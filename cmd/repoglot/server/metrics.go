package server

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// pullMetrics tells when branches were last known to be up to date.
type pullMetrics struct {
	pulls                    *supervisor
	named                    bool // by component, also private ones
	now                      func() time.Time
	build, oldest, component *prometheus.Desc
}

// newPullMetrics makes the collector of the supervisor. Names of components are only
// for an address of its own: private ones are among them.
func newPullMetrics(s *supervisor, named bool) *pullMetrics {
	return &pullMetrics{
		pulls: s, named: named, now: time.Now,
		build: prometheus.NewDesc("repoglot_build_info", "1, with the version of the program.", []string{"version", "goversion"}, nil),
		oldest: prometheus.NewDesc("repoglot_oldest_pull_timestamp_seconds",
			"When the branch that was pulled the longest time ago was last known to be up to date; 0 if one was never pulled.", nil, nil),
		component: prometheus.NewDesc("repoglot_last_pull_timestamp_seconds",
			"When a component was last known to be up to date; 0 if it was never pulled. On metrics_listen only.", []string{"project", "component"}, nil),
	}
}

// Describe implements prometheus.Collector.
func (m *pullMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- m.build
	ch <- m.oldest
	if m.named {
		ch <- m.component
	}
}

// Collect implements prometheus.Collector.
func (m *pullMetrics) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(m.build, prometheus.GaugeValue, 1, m.pulls.engine.options.Version, runtime.Version())
	now := m.now()
	oldest := now
	plan, current := m.pulls.upToDate(now)
	for i := range plan.branches {
		b := &plan.branches[i]
		at := current[b.Key]
		if at.Before(oldest) {
			oldest = at
		}
		if !m.named {
			continue
		}
		for _, c := range b.Components {
			ch <- prometheus.MustNewConstMetric(m.component, prometheus.GaugeValue, seconds(at), c.Spec.Project, c.Spec.Slug)
		}
	}
	ch <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, seconds(oldest))
}

// seconds is a time as Prometheus has it; 0 for the zero time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// upToDate returns the plan, and when each of its branches was last known to be up to
// date, by key: the end of its last good pull, or now if that was the last one and
// the repository is watched. Branches that were never pulled are missing.
func (s *supervisor) upToDate(now time.Time) (*Plan, map[string]time.Time) {
	p, states := s.snapshot()
	s.mu.Lock()
	defer s.mu.Unlock()
	current := make(map[string]time.Time, len(states))
	for key, state := range states {
		switch {
		case state.LastGood.IsZero():
		case s.watched[key] && state.Err == nil:
			current[key] = now
		default:
			current[key] = state.LastGood
		}
	}
	return p, current
}
