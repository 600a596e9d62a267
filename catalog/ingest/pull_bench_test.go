package ingest_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// countUnits returns the number of live units.
func countUnits(w *catalogtest.Puller) int {
	n := 0
	w.EachUnit(func(*catalog.Component, *catalog.Translation, *catalog.Unit) { n++ })
	return n
}

// benchmarkImport measures the first import of a head, the clone included.
func benchmarkImport(b *testing.B, dir string, settings catalog.ComponentSettings) {
	b.ReportAllocs()
	units := 0
	for b.Loop() {
		b.StopTimer()
		w := catalogtest.NewPuller(b, dir, map[string]catalog.ComponentSettings{"app": settings})
		b.StartTimer()
		w.Sync()
		b.StopTimer()
		units += countUnits(w)
		w.DB.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(units)/b.Elapsed().Seconds(), "units/s")
}

func BenchmarkImportVimPO(b *testing.B) {
	dir := catalogtest.Bundle(b, filepath.Join(sharedRepos, "vim-po.bundle"))
	benchmarkImport(b, dir, catalog.ComponentSettings{Filemask: "src/po/*.po", NewBase: "src/po/vim.pot", AllowTranslationPropagation: true})
}

func BenchmarkImportGenerated(b *testing.B) {
	const entries, languages = 5000, 12
	b.Run(fmt.Sprintf("entries=%d/languages=%d", entries, languages), func(b *testing.B) {
		g := testrepos.GenSpec{Entries: entries, Languages: testrepos.Languages(languages), Plural: 10, Context: 10, Fuzzy: 20, Template: true}.Generate(b)
		benchmarkImport(b, g.Path(), catalog.ComponentSettings{NewBase: "po/generated.pot"})
	})
}

// BenchmarkPullOneString measures a pull of one changed string, the fetch
// included.
func BenchmarkPullOneString(b *testing.B) {
	const entries = 20000
	b.Run(fmt.Sprintf("entries=%d", entries), func(b *testing.B) {
		g := testrepos.GenSpec{Entries: entries, Plural: 10, Context: 10, Fuzzy: 20, Template: true}.Generate(b)
		w := synced(b, g.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/generated.pot"}})
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			b.StopTimer()
			g.Edit(b, "cs", n)
			n += 97
			b.StartTimer()
			if r := w.Sync(); r.Changes != 1 {
				b.Fatalf("%d entries, want 1", r.Changes)
			}
		}
	})
}
