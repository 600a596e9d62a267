package push_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// BenchmarkBeside pulls a template with REPOGLOT_BENCH_NEW new strings (else 100,000) for 100 files
// of 500, and tells what an edit of another component, its push and pull take meanwhile: the
// median and the longest, each as a multiple of the median before.
func BenchmarkBeside(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("REPOGLOT_BENCH_NEW"))
	if err != nil {
		n = 100_000
	}
	w := newBenchWorld(b, 2, 2000)
	other, files := gittest.NewUpstream[object.Hash](b), gittest.Files{"app.pot": poOf(500, func(int) string { return "" })}
	for i := range 100 {
		files[fmt.Sprintf("po/x%c%c.po", 'a'+i/26, 'a'+i%26)] = poOf(500, func(i int) string { return fmt.Sprint("Text ", i) })
	}
	first := other.Push("Other", files)
	settings := catalog.ComponentSettings{LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushDirect}}
	_, specs, _ := catalogtest.BranchOf(w.up.Dir, "main", map[string]catalog.ComponentSettings{"app": settings})
	settings.NewBase, settings.Edits.Update.On = "app.pot", true
	hostile, more, _ := catalogtest.BranchOf(other.Dir, "main", map[string]catalog.ComponentSettings{"hostile": settings})
	gittest.Must(b, w.db.Configure(b.Context(), []catalog.Project{{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}}, append(specs, more...), nil))
	_, err = w.syncer.Sync(b.Context(), hostile)
	gittest.Must(b, err)
	none := func(*store.BranchComponent) push.Destination { return push.Destination{} }
	edits := 0
	once := func() time.Duration {
		started := time.Now()
		w.edit(b, edits, 1, "Text")
		edits++
		_, err := w.pusher.Flush(b.Context(), w.branch, none)
		gittest.Must(b, err)
		return time.Since(started)
	}
	var alone, beside []time.Duration
	for range 50 {
		alone = append(alone, once())
	}
	slices.Sort(alone)
	usual := float64(alone[len(alone)/2])
	files["app.pot"] = poOf(n, func(int) string { return "" })
	other.Push("Other", files, first)
	for b.Loop() {
		done := make(chan error)
		go func() {
			_, err := w.pusher.Flush(b.Context(), hostile, none)
			done <- err
		}()
		for running := true; running; {
			beside = append(beside, once())
			select {
			case err := <-done:
				gittest.Must(b, err)
				running = false
			default:
			}
		}
	}
	slices.Sort(beside)
	b.ReportMetric(usual/1e6, "ms-alone")
	b.ReportMetric(float64(beside[len(beside)/2])/usual, "x-median")
	b.ReportMetric(float64(beside[len(beside)-1])/usual, "x-longest")
	b.ReportMetric(float64(len(beside)), "pushes")
}
