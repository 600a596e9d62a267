package ingest_test

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// TestKilledChecking kills processes that check the database of an older version
// again. The stored sums are right at any time, and the next pull ends with the same
// results as an undisturbed one, without a change entry.
func TestKilledChecking(t *testing.T) {
	var before *catalogtest.Puller
	var want, ledger string
	for seed := uint64(28); ; seed++ { // that of 28 has what the test needs
		before = synced(t, playLong(t, seed, 20).repo.URL(), withHistory(historySettings))
		want, ledger = before.ServedUnits(), before.ChangesText(0)
		before.DB.Close()
		if strings.Contains(want, "[inconsistent") && strings.Contains(want, "reused") {
			break // few histories have such failures
		}
	}
	before.Execute(`DELETE FROM failing; DELETE FROM check_counts; DELETE FROM compared_units; DELETE FROM compared_scopes; UPDATE translations SET checked = '', scope_id = 0, failing = 0, failing_words = 0, failing_chars = 0`)
	all := killCounts{commits: map[string]int{}, standing: map[string]int{}}
	_, asked := all.run(t, copyOf(t, before), 0, 0)
	if asked < 50 {
		t.Fatalf("%d places: the test kills nothing", asked)
	}
	kills := int64(manyKills(12, 60))
	if testing.Short() {
		kills = 4
	}
	states := map[string]bool{}
	for n := range kills {
		w := copyOf(t, before)
		place := 1 + n*(asked-1)/(kills-1) // the first, the last and some in between
		all.run(t, w, place, 0)
		w.Open()
		states[w.ServedUnits()] = true // ServedUnits recounts as well
		w.Sync()
		equal(t, want, w.ServedUnits(), "killed at %d of %d (-undisturbed +killed)", place, asked)
		equal(t, ledger, w.ChangesText(0), "killed at %d of %d: entries (-undisturbed +killed)", place, asked)
		w.DB.Close()
	}
	if all.kills < int(kills)/2 || len(states) < 2 {
		t.Errorf("%d of %d were killed, in %d states", all.kills, kills, len(states))
	}
}
