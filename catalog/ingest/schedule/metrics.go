package schedule

import "github.com/prometheus/client_golang/prometheus"

// Metrics returns the Scheduler's collectors, to be registered once. They have no
// labels for keys and hosts: an installation has thousands of keys, and its users
// choose the names of hosts. [Scheduler.States] has both.
func (s *Scheduler) Metrics() []prometheus.Collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("repoglot_schedule_"+name, help, labels, nil)
	}
	return []prometheus.Collector{&collector{
		scheduler: s,
		runs:      desc("runs_total", "Runs that ended, by result: ok, failed, cancelled.", "result"),
		took:      desc("run_duration_seconds", "How long runs took that were not cancelled."),
		running:   desc("running", "Runs in progress."),
		queued:    desc("queue_length", "Jobs that are due and wait for a worker or for their host."),
		failing:   desc("failing_jobs", "Jobs whose last run failed."),
		down:      desc("down_hosts", "Hosts that are taken to be unreachable."),
	}}
}

// collector collects the statistics of a Scheduler.
type collector struct {
	scheduler                                  *Scheduler
	runs, took, running, queued, failing, down *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.runs, c.took, c.running, c.queued, c.failing, c.down} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	now := c.scheduler.statistics()
	for r := range results {
		ch <- prometheus.MustNewConstMetric(c.runs, prometheus.CounterValue, float64(now.runs[r]), r.String())
	}
	buckets, below := map[float64]uint64{}, uint64(0)
	for i, n := range now.runCounts.took {
		below += n
		buckets[bucketBound(i).Seconds()] = below
	}
	count := now.runs[resultOK] + now.runs[resultFailed]
	ch <- prometheus.MustNewConstHistogram(c.took, count, now.sum.Seconds(), buckets)
	for _, g := range []struct {
		desc  *prometheus.Desc
		value int
	}{{c.running, now.running}, {c.queued, now.queued}, {c.failing, now.failing}, {c.down, now.down}} {
		ch <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, float64(g.value))
	}
}
