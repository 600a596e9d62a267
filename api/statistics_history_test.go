package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// statDay is what a test stores: translated of total units of two words each.
type statDay struct {
	component, language string
	day                 time.Time
	translated, total   int64
	gone                bool
}

func january(n int) time.Time { return time.Date(2029, 1, n, 12, 0, 0, 0, time.UTC) }

// putStats stores statistics of days, as steps of their components.
func putStats(w *writer, repos map[string]string, list []statDay) {
	w.TB.Helper()
	for _, d := range list {
		id := w.IDs[d.component]
		branch := "main"
		if d.component == "secret/open" {
			branch = "release"
		}
		w.Step(id, repos[d.component], branch, w.Heads[id], func(ctx context.Context, tx *store.StepTx) error {
			all, err := tx.Translations(ctx, id)
			if err != nil {
				return err
			}
			tr := translationOf(all, d.language)
			if tr == nil {
				return fmt.Errorf("no %s in %s", d.language, d.component)
			}
			stats := catalog.Stats{
				Total:      catalog.Count{Units: d.total, Words: 2 * d.total, Chars: 10 * d.total},
				Translated: catalog.Count{Units: d.translated, Words: 2 * d.translated, Chars: 10 * d.translated},
			}
			return tx.PutStatDay(ctx, store.StatDay{TranslationID: tr.ID, Day: d.day, Removed: d.gone, Stats: stats})
		})
	}
}

// statWorld is demoWorld with statistics of a few days.
func statWorld(tb testing.TB) *writer {
	w := demoWorld(tb)
	w.ImportBranch("secret/open", repoSecret, "release", "Ann", sourceFile(numberedUnits(3)), czechFile(nil))
	putStats(w, map[string]string{"demo/app": repoApp, "demo/hidden": repoHidden, "secret/open": repoSecret}, []statDay{
		{component: "demo/app", language: "en", day: january(1), translated: 10, total: 10},
		{component: "demo/app", language: "cs", day: january(1), translated: 1, total: 10},
		{component: "demo/app", language: "de", day: january(2), translated: 5, total: 10},
		{component: "demo/app", language: "cs", day: january(3), translated: 3, total: 10},
		{component: "demo/app", language: "de", day: january(9), gone: true},
		{component: "demo/app", language: "cs", day: january(31), translated: 4, total: 12},
		{component: "demo/app", language: "cs", day: january(32), translated: 6, total: 12},
		{component: "demo/hidden", language: "en", day: january(5), translated: 900, total: 900},
		{component: "secret/open", language: "cs", day: january(4), translated: 2, total: 4},
	})
	return w
}

// curve renders the points of a list.
func curve(l envelope) string {
	var out []string
	for _, p := range l.Results {
		out = append(out, fmt.Sprintf("%s %v/%v", strings.TrimPrefix(p["first_day"].(string), "2029-"), p["translated"], p["total"]))
	}
	return strings.Join(out, ", ")
}

// TestStatisticsOverTime reads all four lists in all intervals. What is private
// or was never imported is in none.
func TestStatisticsOverTime(t *testing.T) {
	t.Parallel()
	s := serve(statWorld(t), Options{})
	const (
		translation = "/api/translations/demo/app/cs/statistics/history/"
		component   = "/api/components/demo/app/statistics/history/"
		project     = "/api/projects/demo/statistics/history/"
		language    = "/api/languages/cs/statistics/history/"
	)
	for _, c := range []struct{ url, want string }{
		{translation, "01-01 1/10, 01-03 3/10, 01-31 4/12, 02-01 6/12"},
		{translation + "?interval=", "01-01 1/10, 01-03 3/10, 01-31 4/12, 02-01 6/12"},
		{translation + "?interval=week", "01-01 3/10, 01-29 6/12"},
		{translation + "?interval=month", "01-01 4/12, 02-01 6/12"},
		{translation + "?timestamp_after=2029-01-02T00:00:00Z&timestamp_before=2029-01-31T00:00:00Z", "01-02 1/10, 01-03 3/10, 01-31 4/12"},
		{translation + "?timestamp_after=2030-01-01T00:00:00Z", "2030-01-01 6/12"},
		{translation + "?timestamp_before=2028-12-31T23:59:59Z", ""},
		{component, "01-01 11/20, 01-02 16/30, 01-03 18/30, 01-09 13/20, 01-31 14/22, 02-01 16/22"},
		{component + "?interval=week", "01-01 18/30, 01-08 13/20, 01-29 16/22"},
		{project, "01-01 11/20, 01-02 16/30, 01-03 18/30, 01-09 13/20, 01-31 14/22, 02-01 16/22"},
		{"/api/projects/secret/statistics/history/", "01-04 2/4"},
		{language, "01-01 1/10, 01-03 3/10, 01-04 5/14, 01-31 6/16, 02-01 8/16"},
		{"/api/languages/cz/statistics/history/?interval=month", "01-01 6/16, 02-01 8/16"},
		{"/api/languages/de/statistics/history/", "01-02 5/10, 01-09 0/0"},
		{"/api/languages/sw/statistics/history/", ""},
	} {
		l := getList(t, s, c.url)
		if got := curve(l); got != c.want || l.Count != int64(len(l.Results)) {
			t.Errorf("%s:\n got %s\nwant %s", c.url, got, c.want)
		}
	}
	want := `{"first_day":"2029-01-29","last_day":"2029-02-04","total":12,"total_words":24,"total_chars":120,` +
		`"translated":6,"translated_words":12,"translated_percent":50.0,"translated_words_percent":50.0,"translated_chars":60,"translated_chars_percent":50.0,` +
		`"fuzzy":0,"fuzzy_percent":0.0,"fuzzy_words":0,"fuzzy_words_percent":0.0,"fuzzy_chars":0,"fuzzy_chars_percent":0.0,` +
		`"readonly":0,"readonly_percent":0.0,"readonly_words":0,"readonly_words_percent":0.0,"readonly_chars":0,"readonly_chars_percent":0.0}`
	body := get(t, s, translation+"?interval=week&page_size=1&page=2")
	if envelope := `{"count":2,"next":null,"previous":"http://l10n.example.org` + translation + `?format=api&interval=week&page_size=1","results":[` + want + `]}`; body != envelope {
		t.Errorf("got  %s\nwant %s", body, envelope)
	}
	if got := get(t, s, translation+"?format=csv&interval=month&timestamp_before=2029-01-31T00:00:00Z"); !strings.HasPrefix(got, "first_day,last_day,total,") || !strings.Contains(got, "\n2029-01-01,2029-01-31,12,24,120,4,8,33.3,") {
		t.Errorf("CSV: %s", got)
	}
}

// TestStatisticsOverTimeRefuses: errors for bad parameters (all at once), for
// objects that do not exist, and for components that are not imported yet.
func TestStatisticsOverTimeRefuses(t *testing.T) {
	t.Parallel()
	s := serve(statWorld(t), Options{})
	for url, want := range map[string]string{
		"/api/projects/demo/statistics/history/?interval=year&timestamp_after=x": `400 {"interval":["Select a valid choice: day, week or month."],"timestamp":["Enter a valid date/time."]}`,
		"/api/languages/cs/statistics/history/?page=2":                           `404 {"detail":"Invalid page."}`,
		"/api/languages/xx-none/statistics/history/":                             `404 {"detail":"Not found."}`,
		"/api/components/demo/hidden/statistics/history/":                        `404 {"detail":"Not found."}`,
		"/api/components/secret/lib/statistics/history/":                         `404 {"detail":"Not found."}`,
		"/api/translations/demo/app/de/statistics/history/":                      `404 {"detail":"Not found."}`,
		"/api/projects/none/statistics/history/?interval=x":                      `404 {"detail":"Not found."}`,
		"/api/components/demo/docs/statistics/history/":                          `503 {"detail":"This component has not been imported yet."}`,
		"/api/translations/demo/docs/cs/statistics/history/":                     `503 {"detail":"This component has not been imported yet."}`,
	} {
		rec := call(t, s, http.MethodGet, url)
		if got := fmt.Sprint(rec.Code, " ", oldForm(rec.Body.String())); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
		if retry := rec.Header().Get("Retry-After"); (retry != "") != (rec.Code == 503) {
			t.Errorf("%s: Retry-After %q", url, retry)
		}
	}
}
