package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// manyTargets are lists and sums over all components, and single objects.
func manyTargets() []string {
	return []string{
		"/api/projects/", "/api/components/", "/api/projects/many/components/?page=last", "/api/translations/?page=2", "/api/languages/",
		"/api/languages/l01/", "/api/units/?page=2", "/api/projects/many/statistics/", "/api/projects/many/languages/",
		"/api/languages/l01/statistics/", "/api/projects/many/repository/", "/api/projects/many/changes/", "/api/users/", "/api/users/jane/statistics/",
		"/api/search/?q=c", "/api/addons/", "/api/translations/many/c0005/l01/", "/api/components/many/c0005/statistics/", "/api/units/268435457/translations/",
		"/translate/many/",
	}
}

// TestStatements: the number of statements for an answer does not grow with the
// number of components.
func TestStatements(t *testing.T) {
	t.Parallel()
	sizes := [2]int{20, testsize.Of(60, 120, 200)}
	few, many := statements(t, sizes[0]), statements(t, sizes[1])
	for target, n := range few {
		if more := many[target] - n; more > 4 { // lists of ids come in pieces of at most 256
			t.Errorf("%s: %v statements over %d components, %v over %d", target, n, sizes[0], many[target], sizes[1])
		}
	}
}

func statements(t *testing.T, components int) map[string]float64 {
	t.Helper()
	w := manyWorld(t, components, 2)
	s := serve(w, Options{})
	counter := statementCounter(t, w)
	counts := map[string]float64{}
	for _, target := range manyTargets() {
		before := testutil.ToFloat64(counter)
		if _, rec := send(s, http.MethodGet, target); rec.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", target, rec.Code, rec.Body)
		}
		counts[target] = testutil.ToFloat64(counter) - before
		if counts[target] == 0 {
			t.Errorf("%s: no statement counted", target)
		}
	}
	return counts
}

func statementCounter(t *testing.T, w *writer) prometheus.Counter {
	t.Helper()
	for _, m := range w.DB.Metrics() {
		if c, ok := m.(prometheus.Counter); ok && strings.Contains(c.Desc().String(), "repoglot_store_statements_total") {
			return c
		}
	}
	t.Fatal("statements are not counted")
	return nil
}

// manyWorld has components in one project, each with some languages of a unit.
func manyWorld(tb testing.TB, components, languages int) *writer {
	tb.Helper()
	w := newWriter(tb)
	const repo = "https://example.org/many.git"
	var specs []store.ComponentSpec
	settings := componentDefaults("")
	settings.Edits = catalog.Edits{Update: catalog.Update{On: true}}
	for i := range components {
		specs = append(specs, store.ComponentSpec{Project: "many", Slug: fmt.Sprintf("c%04d", i), Settings: settings, Repo: repo, Branch: "main"})
	}
	w.Configure([]catalog.Project{{Slug: "many", Settings: projectDefaults("Many")}}, specs)
	ids := make([]int64, components)
	for i := range specs {
		ids[i] = w.IDs["many/"+specs[i].Slug]
	}
	info := store.StepInfo{Repo: repo, Branch: "main", Components: ids, To: head1, Tracking: "main", At: catalogtest.Now()}
	_, err := w.DB.Step(tb.Context(), info, func(ctx context.Context, tx *store.StepTx) error {
		for _, id := range ids {
			sources := map[catalog.Identity]int64{}
			files := []poFile{sourceFile(numberedUnits(1))}
			for l := range languages {
				files = append(files, poFile{Language: fmt.Sprintf("l%02d", l), Name: "po/x.po", Units: numberedUnits(1)})
			}
			for i := range files {
				if err := importFile(ctx, tx, id, &files[i], sources, "Jane"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	must(tb, err)
	return w
}

// BenchmarkMany measures lists, sums and some objects over 1,000 components of 21
// translations. Run it with
//
//	go test ./api -run '^$' -bench Many
func BenchmarkMany(b *testing.B) {
	const components, languages = 1000, 20
	s := bare(manyWorld(b, components, languages), Options{Logger: slog.New(slog.DiscardHandler)})
	for _, target := range manyTargets() {
		b.Run(fmt.Sprintf("%s/components=%d", target, components), func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, target, nil)
			b.ReportAllocs()
			for b.Loop() {
				rec := httptest.NewRecorder()
				s.ServeHTTP(rec, r)
				if rec.Code != http.StatusOK {
					b.Fatalf("%d %s", rec.Code, rec.Body)
				}
			}
		})
	}
}
