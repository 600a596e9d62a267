package cluster

import (
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog/store/internal/sqldb"
)

// TestSpend: processes add up what a client used until the first span is over.
func TestSpend(t *testing.T) {
	one, two := clusterOf(t)
	spend := func(db *process, limit string, list ...Spent) map[string]Spent {
		t.Helper()
		sums, err := db.Spend(t.Context(), limit, list)
		if err != nil {
			t.Fatal(err)
		}
		if len(sums) != len(list) {
			t.Fatalf("%d sums of %d", len(sums), len(list))
		}
		by := map[string]Spent{}
		for _, s := range sums {
			by[s.Client] = s
		}
		return by
	}
	spend(one, "a", Spent{"x", 3, time.Hour}, Spent{"y", 1, -time.Second})
	got := spend(two, "a", Spent{"y", 5, time.Minute}, Spent{"x", 4, 2 * time.Hour}, Spent{"z", 1, time.Minute})
	if x := got["x"]; x.Used != 7 || x.Left > time.Hour || x.Left < 59*time.Minute {
		t.Errorf("two processes: %+v", x)
	}
	if y := got["y"]; y.Used != 5 || y.Left > time.Minute || y.Left <= 0 {
		t.Errorf("after a span: %+v", y)
	}
	if got["z"].Used != 1 || spend(one, "b", Spent{"x", 1, time.Hour})["x"].Used != 1 {
		t.Error("clients or limits are mixed up")
	}
	spend(one, "b", Spent{"old", 1, -time.Second})
	spend(one, "b", Spent{"x", 1, time.Hour})
	left := 0
	err := one.Do(t.Context(), "count clients", func(s *sqldb.Session) error {
		_, err := s.First(t.Context(), `SELECT COUNT(*) FROM spent WHERE client LIKE '%x%' OR ends < `+sqldb.Clock, nil, &left)
		return err
	})
	if err != nil || left != 0 {
		t.Errorf("%d clients are stored by name, or longer than their span: %v", left, err)
	}
}
