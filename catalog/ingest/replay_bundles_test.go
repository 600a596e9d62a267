package ingest_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
)

// TestReplayBundles replays the whole history of real repositories: the entries
// must lead to the units, and the units must equal an import of the head. The
// long histories are for REPOGLOT_LONG_TESTS=1.
func TestReplayBundles(t *testing.T) {
	catalogtest.NeedShared(t, sharedRepos)
	short := map[string]bool{"hello": true, "demo": true, "dnf-plugins-core": true, "polib": true}
	for _, b := range bundles {
		t.Run(b.name, func(t *testing.T) {
			if !short[b.name] && os.Getenv("REPOGLOT_LONG_TESTS") == "" {
				t.Skip("skipped: REPOGLOT_LONG_TESTS=1 replays it")
			}
			if underRace && b.name == "dnf-plugins-core" {
				t.Skip("skipped under the race detector: TestOneStepOrMany reads the same repository")
			}
			t.Parallel()
			dir := catalogtest.Bundle(t, filepath.Join(sharedRepos, b.name+".bundle"))
			components := withoutAgeCheck(b.components)
			w := catalogtest.NewPuller(t, dir, withHistory(components))
			report := w.Sync()
			t.Logf("%d entries, %d transactions", report.Changes, report.Steps)
			units, texts := map[int64]string{}, map[int64]string{}
			w.Targets(units)
			w.ApplyChanges(texts)
			if diff := cmp.Diff(units, texts); diff != "" {
				t.Errorf("the entries do not lead to the units (-units +entries):\n%.3000s", diff)
			}
			head := catalogtest.NewPuller(t, dir, components)
			headReport := head.Sync()
			if len(headReport.Components) == 0 || kept(headReport.Components) {
				return // a file that cannot be parsed keeps its last good state, which the head alone does not know
			}
			if diff := cmp.Diff(head.ServedUnits(), w.ServedUnits()); diff != "" {
				t.Errorf("replay and import differ (-import +replay):\n%.3000s", diff)
			}
			orderedTimes(w)
		})
	}
}

// kept reports whether a component has a file whose last good version is
// served.
func kept(components []ingest.ComponentReport) bool {
	for _, c := range components {
		if len(c.Problems) > 0 {
			return true
		}
	}
	return false
}
