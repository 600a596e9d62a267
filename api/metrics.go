package api

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics are the metrics of one Server. Labels are bounded: routes are
// patterns, and unknown methods are counted as "other".
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  prometheus.Gauge
	events   prometheus.Counter
	dropped  prometheus.Counter

	mu     *sync.RWMutex
	series map[seriesKey]series
}

func newMetrics() metrics {
	return metrics{
		mu: &sync.RWMutex{}, series: map[seriesKey]series{},
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "repoglot_api_requests_total",
			Help: "Answers of the API by route, method and status.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "repoglot_api_request_seconds",
			Help:    "Time to answer a request of the API by route.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 5},
		}, []string{"route"}),
		streams: prometheus.NewGauge(prometheus.GaugeOpts{Name: "repoglot_api_streams", Help: "Streams of changes that are open."}),
		events:  prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_api_stream_events_total", Help: "Change entries sent to streams."}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{Name: "repoglot_api_streams_dropped_total", Help: "Streams that were cut off because their client did not read."}),
	}
}

func (m *metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.requests, m.seconds, m.streams, m.events, m.dropped}
}

func (m *metrics) observe(route, method string, status int, took time.Duration) {
	of := seriesKey{route, methodLabel(method), status}
	m.mu.RLock()
	found, ok := m.series[of]
	m.mu.RUnlock()
	if !ok {
		found = series{m.requests.WithLabelValues(route, of.method, strconv.Itoa(status)), m.seconds.WithLabelValues(route)}
		m.mu.Lock()
		m.series[of] = found
		m.mu.Unlock()
	}
	found.requests.Inc()
	found.seconds.Observe(took.Seconds())
}

// seriesKey is everything that answers are counted by.
type seriesKey struct {
	route, method string // as methodLabel returns it
	status        int
}

// series are the counters of one kind of answers. Looking them up by their
// labels takes as long as the rest of the work for a cached answer.
type series struct {
	requests prometheus.Counter
	seconds  prometheus.Observer
}

func methodLabel(method string) string {
	switch method {
	case "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE":
		return method
	}
	return "other"
}
