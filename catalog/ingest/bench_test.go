package ingest_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/testrepos"
)

// countUnits is the number of live units.
func (w *world) countUnits() int {
	n := 0
	w.eachUnit(func(*catalog.Component, *catalog.Translation, *catalog.Unit) { n++ })
	return n
}

// benchmarkImport measures the first import of a head, the clone included.
func benchmarkImport(b *testing.B, dir string, settings catalog.ComponentSettings) {
	b.ReportAllocs()
	units := 0
	for b.Loop() {
		b.StopTimer()
		w := newWorld(b, dir, map[string]catalog.ComponentSettings{"app": settings})
		b.StartTimer()
		w.sync()
		b.StopTimer()
		units += w.countUnits()
		w.db.Close()
		b.StartTimer()
	}
	b.ReportMetric(float64(units)/b.Elapsed().Seconds(), "units/s")
}

func BenchmarkImportVimPO(b *testing.B) {
	dir := cloneBundle(b, filepath.Join(sharedRepos, "vim-po.bundle"))
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
		w := newWorld(b, g.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/generated.pot"}})
		w.sync()
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			b.StopTimer()
			g.Edit(b, "cs", n)
			n += 97
			b.StartTimer()
			if r := w.sync(); r.Changes != 1 {
				b.Fatalf("%d entries, want 1", r.Changes)
			}
		}
	})
}
