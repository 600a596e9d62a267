package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

func TestMetrics(t *testing.T) {
	db := openWith(t, "app")
	step(t, db, info(0, 1, 1), writeAll)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(db.Metrics()...)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			got[f.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
		}
	}
	if got["repoglot_store_statements_total"] < 10 {
		t.Errorf("only %v statements counted", got["repoglot_store_statements_total"])
	}
	delete(got, "repoglot_store_statements_total") // its value may vary
	want := map[string]float64{"repoglot_store_changes_total": 300, "repoglot_store_generation": 2, "repoglot_store_step_seconds": 1}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
