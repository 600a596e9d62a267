package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// unchecked makes a database one whose strings were never checked.
const unchecked = `DELETE FROM search_blocks; DELETE FROM failing; DELETE FROM check_counts; DELETE FROM compared_units; DELETE FROM compared_scopes;
	UPDATE translations SET checked = '', scope_id = 0, failing = 0, failing_words = 0, failing_chars = 0`

// TestOlderChecks: a process whose checks are older than those of another one checks
// nothing again. The newest one does.
func TestOlderChecks(t *testing.T) {
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: map[string]string{
		"po/cs.po": "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"Save.\"\nmsgstr \"Uložit\"\n",
	}})
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {Filemask: "po/*.po", FileFormat: "po"}})
	checked := servedUnits(w)
	for _, c := range []struct {
		newest int // of all processes
		again  bool
	}{{1_000_000, false}, {0, true}} {
		w.Close()
		execute(w.Store, unchecked+fmt.Sprintf("; UPDATE translations SET checked = 'other rules'; UPDATE clock SET checks = %d", c.newest))
		w.Open()
		w.Sync()
		if got := servedUnits(w) == checked; got != c.again {
			t.Errorf("with checks %d in the database: checked again %v\n%s", c.newest, got, checked)
		}
	}
}

// TestKilledChecking kills processes that check the database of an older version
// again. The stored sums are right at any time, and the next pull ends with the same
// results as an undisturbed one, without a change entry.
func TestKilledChecking(t *testing.T) {
	var before *catalogtest.Puller
	var want, ledger string
	for seed := uint64(28); ; seed++ { // that of 28 has what the test needs
		before = synced(t, playLong(t, seed, 20).repo.URL(), withHistory(historySettings))
		want, ledger = servedUnits(before), changesText(before, 0)
		before.DB.Close()
		if strings.Contains(want, "[inconsistent") && strings.Contains(want, "reused") {
			break // few histories have such failures
		}
	}
	execute(before.Store, unchecked)
	all := killCounts{commits: map[string]int{}, standing: map[string]int{}}
	_, asked := all.run(t, copyOf(t, before), 0, 0)
	if asked < 50 {
		t.Fatalf("%d places: the test kills nothing", asked)
	}
	kills := int64(testsize.Of(6, 8, 60))
	states := map[string]bool{}
	// How often a process asks depends on how it waits: it goes on until one died midway.
	for n := int64(0); n < kills || len(states) < 2 && n < 8*kills; n++ {
		w := copyOf(t, before)
		place := 1 + n*(asked-1)/(kills-1) // the first, the last and some in between
		if n >= kills {
			place = 1 + n*37%asked
		}
		killed, _ := all.run(t, w, place, 0)
		w.Open()
		if served := servedUnits(w); killed { // ServedUnits recounts as well
			states[served] = true
		}
		w.Sync()
		equal(t, want, servedUnits(w), "killed at %d of %d (-undisturbed +killed)", place, asked)
		equal(t, ledger, changesText(w, 0), "killed at %d of %d: entries (-undisturbed +killed)", place, asked)
		w.DB.Close()
	}
	if all.kills < int(kills)/2 || len(states) < 2 {
		t.Errorf("%d of %d were killed at %d places, in %d states", all.kills, kills, asked, len(states))
	}
}
