package ingest_test

import (
	"path/filepath"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/lang"
)

// BenchmarkChecks runs all checks over the units of a real repository; one
// operation is one unit.
func BenchmarkChecks(b *testing.B) {
	needShared(b, sharedRepos)
	w := newWorld(b, cloneBundle(b, filepath.Join(sharedRepos, "vim-po.bundle")), map[string]catalog.ComponentSettings{"vim": {Filemask: "src/po/*.po"}})
	w.sync()
	var units []checks.Unit
	for _, row := range w.checkRows() {
		units = append(units, row.unit)
	}
	set := checks.New(checks.Options{
		Language: "fr", Plural: lang.Plural{Number: 2, Formula: "n > 1"}, SourcePlural: lang.Plural{Number: 2, Formula: "n != 1"},
	})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		set.Run(&units[i%len(units)])
	}
}
