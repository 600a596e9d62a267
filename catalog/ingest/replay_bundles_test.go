package ingest_test

import (
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestReplayBundles replays the whole history of real repositories: the entries
// must lead to the units, and the units must equal an import of the head. The
// long histories are for REPOGLOT_LONG_TESTS=1.
func TestReplayBundles(t *testing.T) {
	gittest.Shared(t, "data", "repos")
	short := map[string]bool{"hello": true, "demo": true, "dnf-plugins-core": true, "polib": true}
	for _, b := range bundles {
		t.Run(b.name, func(t *testing.T) {
			if !short[b.name] && !testsize.Nightly() {
				t.Skip("skipped: REPOGLOT_LONG_TESTS=1 replays it")
			}
			if testing.Short() && b.name == "dnf-plugins-core" {
				t.Skip("slow: it replays a long history")
			}
			t.Parallel()
			dir := gittest.Bundle(t, b.name)
			components := withoutAgeCheck(b.components)
			w := catalogtest.NewPuller(t, dir, withHistory(components))
			report := w.Sync()
			t.Logf("%d entries, %d transactions", report.Changes, report.Steps)
			entriesLeadToUnits(w, map[int64]string{})
			head := catalogtest.NewPuller(t, dir, components)
			headReport := head.Sync()
			if len(headReport.Components) == 0 || kept(headReport.Components) {
				return // a file that cannot be parsed keeps its last good state, which the head alone does not know
			}
			equal(t, servedUnits(head), servedUnits(w), "replay and import differ (-import +replay)")
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

// BenchmarkReplay measures the replay of whole histories, the clone included.
func BenchmarkReplay(b *testing.B) {
	for _, repo := range bundles {
		b.Run(repo.name, func(b *testing.B) {
			dir := gittest.Bundle(b, repo.name)
			var entries int64
			for b.Loop() {
				b.StopTimer()
				w := catalogtest.NewPuller(b, dir, withHistory(repo.components))
				b.StartTimer()
				report := w.Sync()
				b.StopTimer()
				entries += report.Changes
				w.DB.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(entries)/b.Elapsed().Seconds(), "entries/s")
			b.ReportMetric(float64(entries)/float64(b.N), "entries")
		})
	}
}

// withHistory is components with history: full.
func withHistory(components map[string]catalog.ComponentSettings) map[string]catalog.ComponentSettings {
	full := make(map[string]catalog.ComponentSettings, len(components))
	for slug, s := range components {
		s.History.Full = true
		full[slug] = s
	}
	return full
}
