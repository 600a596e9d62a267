package api

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// BenchmarkGet measures whole requests through the handler over SQLite, a
// translation of 50,000 units with an entry each. Run it with
//
//	go test ./api -run '^$' -bench Get
func BenchmarkGet(b *testing.B) {
	const units = 50_000
	w := catalogtest.NewWriter(b)
	w.ImportBig(units)
	s := serve(w, Options{Logger: slog.New(slog.DiscardHandler)})
	const translation = "/api/translations/big/big/cs/"
	for _, tc := range []struct{ name, target string }{
		{"translation", translation},
		{"units/page_size=50/page=1", translation + "units/?page_size=50"},
		{"units/page_size=50/page=500", translation + "units/?page_size=50&page=500"},
		{"units/page_size=50/page=1000", translation + "units/?page_size=50&page=1000"},
		{"units/page_size=1000/page=1", translation + "units/?page_size=1000"},
		{"changes/page_size=50/page=1", translation + "changes/?page_size=50"},
		{"changes/page_size=50/page=1000", translation + "changes/?page_size=50&page=1000"},
		{"changes/after_id", fmt.Sprintf("%schanges/?after_id=%d", translation, 2*units-10)},
		{"unit", "/api/units/268460000/"},
		{"change", "/api/changes/75000/"},
	} {
		b.Run(fmt.Sprintf("%s/units=%d", tc.name, units), func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, tc.target, nil)
			b.ReportAllocs()
			for b.Loop() {
				rec := httptest.NewRecorder()
				s.ServeHTTP(rec, r)
				if rec.Code != http.StatusOK {
					b.Fatalf("%d %s", rec.Code, rec.Body)
				}
				b.SetBytes(int64(rec.Body.Len()))
			}
		})
	}
}
