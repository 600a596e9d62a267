package api

import (
	"strconv"
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
}

func newMetrics() metrics {
	return metrics{
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
	m.requests.WithLabelValues(route, methodLabel(method), strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

func methodLabel(method string) string {
	switch method {
	case "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE":
		return method
	}
	return "other"
}
