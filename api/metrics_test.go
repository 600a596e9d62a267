package api

import (
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestMetrics: requests are counted by route, not by path.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := serve(catalogtest.Demo(t), Options{})
	for _, target := range []string{"/api/units/268435457/", "/api/units/268435458/", "/api/units/1/", "/api/nope/1/", "/nope/2/"} {
		call(t, s, http.MethodGet, target)
	}
	call(t, s, "BREW", "/api/units/1/")
	for labels, want := range map[[3]string]float64{
		{"/api/units/:id/", "GET", "200"}:   2,
		{"/api/units/:id/", "GET", "404"}:   1,
		{"/api/units/:id/", "other", "405"}: 1,
		{"unknown", "GET", "404"}:           2,
	} {
		if got := testutil.ToFloat64(s.metrics.requests.WithLabelValues(labels[0], labels[1], labels[2])); got != want {
			t.Errorf("%v: %v, want %v", labels, got, want)
		}
	}
	if n := len(s.Metrics()); n != 7 {
		t.Errorf("%d collectors", n)
	}
}
