package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/store"
)

// manyWorld has components in one project, each with some languages of a unit.
func manyWorld(tb testing.TB, components, languages int) *world {
	tb.Helper()
	w := openWorld(tb)
	const repo = "https://example.org/many.git"
	var specs []store.ComponentSpec
	for i := range components {
		specs = append(specs, store.ComponentSpec{Project: "many", Slug: fmt.Sprintf("c%04d", i), Settings: componentDefaults(""), Repo: repo, Branch: "main"})
	}
	w.configure([]catalog.Project{{Slug: "many", Settings: projectDefaults("Many")}}, specs)
	ids := make([]int64, components)
	for i := range specs {
		ids[i] = w.ids["many/"+specs[i].Slug]
	}
	info := store.StepInfo{Repo: repo, Branch: "main", Components: ids, To: head1, Tracking: "main", At: at}
	_, err := w.db.Step(tb.Context(), info, func(ctx context.Context, tx *store.StepTx) error {
		for _, id := range ids {
			sources := map[catalog.Identity]int64{}
			files := []file{sourceOf(manyUnits(1))}
			for l := range languages {
				files = append(files, file{language: fmt.Sprintf("l%02d", l), name: "po/x.po", units: manyUnits(1)})
			}
			for i := range files {
				if err := importFile(ctx, tx, id, &files[i], sources, "Jane"); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

// BenchmarkMany measures lists and sums (and some objects beside them) over 1,000 components of 21
// translations. Run it with
//
//	go test ./api -run '^$' -bench Many
func BenchmarkMany(b *testing.B) {
	const components, languages = 1000, 20
	s := manyWorld(b, components, languages).bare(Options{Logger: slog.New(slog.DiscardHandler)})
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
