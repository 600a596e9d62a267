package api_test

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/api"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestTwoProcessesAgree: two processes give the same bytes and the same ETag for an
// address, whatever their clocks show, but for the answers that docs/api.md lists. Those
// are the same on the same day.
func TestTwoProcessesAgree(t *testing.T) {
	t.Parallel()
	w := newFreshWorld(t, 1)
	for n := range 4 {
		w.change(n)
	}
	other := (&generationWorld{Store: w.Store}).other(store.Options{PollInterval: time.Hour})
	at := func(db *store.DB, now time.Time) *api.Server {
		return api.New(api.Options{DB: db, Languages: w.Languages, Now: func() time.Time { return now }, CacheBytes: 1 << 20, TempDir: t.TempDir()})
	}
	midnight := differenceNow().Truncate(24 * time.Hour)
	one, two, old, young := at(w.DB, midnight), at(other.DB, midnight.Add(24*time.Hour-1)), at(other.DB, midnight.AddDate(2, 0, 0)), at(other.DB, time.Date(2024, 1, 15, 0, 0, 0, 0, time.UTC))
	same := func(a, b *httptest.ResponseRecorder) bool {
		return a.Code == b.Code && a.Body.String() == b.Body.String() && a.Header().Get("ETag") == b.Header().Get("ETag") && a.Header().Get(generationHeader) == b.Header().Get(generationHeader)
	}
	byClock, all := 0, append(w.targets(one), "/api/projects/demo/matrix/", "/projects/demo/", "/user/ann/", "/")
	for i, target := range all {
		if i%testsize.Of(3, 1, 1) > 0 {
			continue
		}
		listed := strings.HasSuffix(target, "/matrix/")
		for _, prefix := range []string{"/projects/", "/languages/", "/translate/", "/user/"} {
			listed = listed || strings.HasPrefix(target, prefix)
		}
		accept := "application/json"
		if !strings.HasPrefix(target, "/api/") {
			accept = "text/html"
		}
		want := ask(one, target, "Accept", accept)
		if got := ask(two, target, "Accept", accept); !same(got, want) {
			t.Errorf("%s differs on one day: %d %s and %d %s", target, want.Code, want.Header().Get("ETag"), got.Code, got.Header().Get("ETag"))
		}
		switch follows := !same(ask(old, target, "Accept", accept), want) || !same(ask(young, target, "Accept", accept), want); {
		case follows && !listed:
			t.Errorf("%s follows the clock", target)
		case follows:
			byClock++
		}
	}
	if byClock == 0 || len(all) < 200 {
		t.Errorf("%d of %d answers follow the clock", byClock, len(all))
	}
}
