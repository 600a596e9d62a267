package history

import (
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
)

// TestFiltered: only what selects entries of a list makes it one that is counted by its deltas.
func TestFiltered(t *testing.T) {
	t.Parallel()
	for _, q := range []Query{{}, {ProjectID: 1, UnitID: 2}, {AfterID: 1, Offset: 2, Limit: 3, Newest: true}, {Authored: true}} {
		if q.filtered() {
			t.Errorf("%+v is filtered", q)
		}
	}
	for _, q := range []Query{{User: "ann"}, {User: "ann", Authored: true}, {Actions: []catalog.Action{}}, {From: time.Unix(1, 0)}, {Components: []int64{}}} {
		if !q.filtered() {
			t.Errorf("%+v is not filtered", q)
		}
	}
}
