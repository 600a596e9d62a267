package schedule

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

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

type collector struct {
	scheduler                                  *Scheduler
	runs, took, running, queued, failing, down *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	prometheus.DescribeByCollect(c, ch)
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

// A result is how a run ended, in the words of the metrics.
type result int

const (
	resultOK result = iota
	resultFailed
	// resultCancelled: the job was removed or the Scheduler stopped.
	resultCancelled
	results // how many there are
)

// String returns the result for the label of a metric and the log.
func (r result) String() string { return [...]string{"ok", "failed", "cancelled"}[r] }

// tookBuckets is the number of buckets for the duration of runs: 10 ms, then four
// times as much each, up to 44 minutes. Longer runs are in no bucket.
const tookBuckets = 10

// bucketBound returns the upper bound, inclusive, of bucket i.
func bucketBound(i int) time.Duration { return 10 * time.Millisecond << (2 * i) }

// runCounts counts the runs of a Scheduler. Scheduler.mu guards it.
type runCounts struct {
	runs [results]uint64
	// took counts the runs that were not cancelled, each in the smallest bucket that
	// holds it; sum is the sum of their durations.
	took [tookBuckets]uint64
	sum  time.Duration
}

func (t *runCounts) add(r result, took time.Duration) {
	t.runs[r]++
	if r == resultCancelled {
		return
	}
	t.sum += took
	for i := range t.took {
		if took <= bucketBound(i) {
			t.took[i]++
			return
		}
	}
}

// statistics are the values of the metrics at one moment.
type statistics struct {
	runCounts
	running int // runs in progress
	queued  int // jobs that are due and do not run
	failing int // jobs whose last run failed
	down    int // hosts that are down
}

func (s *Scheduler) statistics() statistics {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := statistics{runCounts: s.counts, running: s.running}
	now := s.opts.Now()
	for _, e := range s.jobs {
		// By the clock: the loop may not have looked at the queue yet.
		if e.queue != nil && !e.due.After(now) {
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
