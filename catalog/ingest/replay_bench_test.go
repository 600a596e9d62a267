package ingest_test

import (
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
)

// BenchmarkReplay measures the replay of whole histories, the clone included.
func BenchmarkReplay(b *testing.B) {
	for _, repo := range bundles {
		b.Run(repo.name, func(b *testing.B) {
			dir := catalogtest.Bundle(b, filepath.Join(sharedRepos, repo.name+".bundle"))
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
