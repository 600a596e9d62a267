package api

import (
	"encoding/csv"
	"net/http"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestStatisticsExports: JSON with indent, and CSV with Weblate's columns.
func TestStatisticsExports(t *testing.T) {
	t.Parallel()
	const columns = "name code total translated translated_percent translated_words_percent total_words translated_words " +
		"total_chars translated_chars translated_chars_percent failing failing_percent fuzzy fuzzy_percent url_translate url " +
		"translate_url last_change last_author recent_changes readonly readonly_percent approved approved_percent suggestions comments"
	s := serve(catalogtest.Demo(t), Options{})
	rec := call(t, s, http.MethodGet, "/exports/stats/demo/app/?format=csv")
	rows, err := csv.NewReader(rec.Body).ReadAll()
	if err != nil || rec.Header().Get("Content-Disposition") != `attachment; filename="stats-demo-app.csv"` {
		t.Fatalf("%v %v", rec.Header(), err)
	}
	if len(rows) != 5 || strings.Join(rows[0], " ") != columns || rows[2][0] != "Czech" || rows[2][1] != "cs" || rows[2][2] != "44" {
		t.Errorf("%q", rows)
	}
	for _, path := range []string{"/exports/stats/demo/", "/exports/stats/demo/app/?format=json"} {
		body := get(t, s, path)
		if all := decode[[]map[string]any](t, body); len(all) < 4 || !strings.HasPrefix(body, "[\n    {\n") {
			t.Errorf("%s: %.300s", path, body)
		}
	}
}
