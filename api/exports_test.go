package api

import (
	"encoding/csv"
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
)

// TestStatisticsExports: JSON with indent, and CSV with the columns of facts §12.
func TestStatisticsExports(t *testing.T) {
	t.Parallel()
	s := demoWorld(t).serve(Options{})
	rec := call(t, s, http.MethodGet, "/exports/stats/demo/app/?format=csv")
	rows, err := csv.NewReader(rec.Body).ReadAll()
	if err != nil || rec.Header().Get("Content-Disposition") != `attachment; filename="stats-demo-app.csv"` {
		t.Fatalf("%v %v", rec.Header(), err)
	}
	if len(rows) != 5 || strings.Join(rows[0], " ") != exportColumns || rows[2][0] != "Czech" || rows[2][1] != "cs" || rows[2][2] != "44" {
		t.Errorf("%q", rows)
	}
	for _, path := range []string{"/exports/stats/demo/", "/exports/stats/demo/app/?format=json"} {
		body := get(t, s, path)
		if all := decode[[]map[string]any](t, body); len(all) < 4 || !strings.HasPrefix(body, "[\n    {\n") {
			t.Errorf("%s: %.300s", path, body)
		}
	}
}

// TestRSS: the newest changes of every scope, well formed whatever they hold.
func TestRSS(t *testing.T) {
	t.Parallel()
	s := demoWorld(t).serve(Options{})
	for _, path := range []string{"/exports/rss/", "/exports/rss/demo/", "/exports/rss/demo/app/", "/exports/rss/demo/app/cs/"} {
		body := get(t, s, path)
		var feed struct {
			Items []struct {
				Title string `xml:"title"`
				Link  string `xml:"link"`
			} `xml:"channel>item"`
		}
		if err := xml.Unmarshal([]byte(body), &feed); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if len(feed.Items) != 10 || feed.Items[0].Title == "" || !strings.HasPrefix(feed.Items[0].Link, "http://l10n.example.org/projects/") {
			t.Errorf("%s: %+v", path, feed.Items)
		}
		if strings.Contains(strings.ToLower(body), "hidden") || strings.Contains(strings.ToLower(body), "mallory") {
			t.Errorf("%s tells of what is private", path)
		}
	}
}

// TestWidgets: both shapes of URL, and nothing of what is private.
func TestWidgets(t *testing.T) {
	t.Parallel()
	s := demoWorld(t).serve(Options{})
	for path, want := range map[string]string{
		"/widget/demo/app/cs/svg-badge.svg":       "translated: 93%",
		"/widgets/demo/cs/app/svg-badge.svg":      "translated: 93%",
		"/widgets/demo/-/app/horizontal-auto.svg": "translated: 96%",
		"/widget/demo/app/horizontal-auto.svg":    "translated: 96%",
		"/widget/demo/svg-badge.svg":              "translated: 96%",
		"/widget/demo/-/cs/svg-badge.svg":         "translated: 93%",
		"/widgets/demo/cs/svg-badge.svg":          "translated: 93%",
	} {
		rec := call(t, s, http.MethodGet, path)
		if rec.Code != 200 || !strings.Contains(rec.Body.String(), want) || rec.Header().Get("Cache-Control") != "max-age=3600" || rec.Header().Get("Content-Type") != typeSVG {
			t.Errorf("%s: %d %v %s", path, rec.Code, rec.Header(), rec.Body)
		}
		if err := xml.Unmarshal(rec.Body.Bytes(), new(struct{})); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{
		"/widget/demo/hidden/svg-badge.svg", "/widget/demo/hidden/en/svg-badge.svg", "/widgets/demo/-/hidden/svg-badge.svg",
		"/widget/secret/lib/svg-badge.svg", "/widget/demo/-/xx/svg-badge.svg", "/widget/demo/nope.svg", "/widget/demo/svg-badge.png",
		"/exports/rss/demo/hidden/", "/exports/rss/secret/lib/", "/exports/stats/demo/hidden/", "/exports/stats/demo/app/?format=nope",
	} {
		if rec := call(t, s, http.MethodGet, path); rec.Code != 404 {
			t.Errorf("%s: %d %s", path, rec.Code, rec.Body)
		}
	}
}
