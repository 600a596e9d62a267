package web

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/repoglot/repoglot/api/rest"
)

// TestChangesAPI: the link of a page of changes to the API has all filters of the page.
func TestChangesAPI(t *testing.T) {
	for query, want := range map[string]string{
		"":                          "?ordering=-id",
		"order=oldest&kind=removed": "?ordering=id&action=63",
		"author=Jana+A&from=2026-01-02&to=2026-02-03": "?ordering=-id&author=jana-a&timestamp_after=2026-01-02T00:00:00Z&timestamp_before=2026-02-03T23:59:59.999999Z",
		"from=yesterday&to=":                          "?ordering=-id",
		"author=o'neil_ji%C5%99%C3%AD.":               "?ordering=-id&author=o-neil-jiri",
		"author=jana-2":                               "?ordering=-id&author=jana-2",
	} {
		r := rest.NewRequest(httptest.NewRequest(http.MethodGet, "/changes/?"+query, http.NoBody), nil, nil)
		r.Params = rest.ParseQuery(query)
		if got := changesAPI("")(r); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}
