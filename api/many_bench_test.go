package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
)

// manyWorld has components in one project, each with some languages of a unit.
func manyWorld(tb testing.TB, components, languages int) *catalogtest.Writer {
	tb.Helper()
	w := catalogtest.NewWriter(tb)
	const repo = "https://example.org/many.git"
	var specs []store.ComponentSpec
	for i := range components {
		specs = append(specs, store.ComponentSpec{Project: "many", Slug: fmt.Sprintf("c%04d", i), Settings: catalogtest.ComponentDefaults(""), Repo: repo, Branch: "main"})
	}
	w.Configure([]catalog.Project{{Slug: "many", Settings: catalogtest.ProjectDefaults("Many")}}, specs)
	ids := make([]int64, components)
	for i := range specs {
		ids[i] = w.IDs["many/"+specs[i].Slug]
	}
	info := store.StepInfo{Repo: repo, Branch: "main", Components: ids, To: catalogtest.Head1, Tracking: "main", At: catalogtest.Now()}
	_, err := w.DB.Step(tb.Context(), info, func(ctx context.Context, tx *store.StepTx) error {
		for _, id := range ids {
			sources := map[catalog.Identity]int64{}
			files := []catalogtest.File{catalogtest.SourceFile(catalogtest.NumberedUnits(1))}
			for l := range languages {
				files = append(files, catalogtest.File{Language: fmt.Sprintf("l%02d", l), Name: "po/x.po", Units: catalogtest.NumberedUnits(1)})
			}
			for i := range files {
				if err := catalogtest.ImportFile(ctx, tx, id, &files[i], sources, "Jane"); err != nil {
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
