package push_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/catalog/editing"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/catalog/push"
	"github.com/repoglot/repoglot/catalog/query"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
)

// benchWorld has a component of some languages with strings, and its first translation.
type benchWorld struct {
	up     *gittest.Upstream[object.Hash]
	db     *store.DB
	syncer *ingest.Syncer
	editor *editing.Editor
	branch ingest.Branch
	pusher *push.Pusher
	first  catalog.Translation
	units  []catalog.Unit // of it
	total  int64          // of all translations
}

// poOf is a file of n strings without translations.
func poOf(n int, text func(i int) string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for i := range n {
		fmt.Fprintf(&b, "\nmsgid \"String number %d of the program\"\nmsgstr %q\n", i, text(i))
	}
	return b.String()
}

func newBenchWorld(b *testing.B, languages, n int) *benchWorld {
	b.Helper()
	gittest.NeedGit(b)
	up, files := gittest.NewUpstream[object.Hash](b), gittest.Files{}
	text := poOf(n, func(int) string { return "" })
	for i := range languages {
		files[fmt.Sprintf("po/x%c%c.po", 'a'+i/26, 'a'+i%26)] = text
	}
	up.Push("Other", files)
	db := catalogtest.Open(b).DB
	table, err := lang.New()
	gittest.Must(b, err)
	settings := catalog.ComponentSettings{LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushDirect}}
	branch, specs, _ := catalogtest.BranchOf(up.Dir, "main", map[string]catalog.ComponentSettings{"app": settings})
	gittest.Must(b, db.Configure(b.Context(), []catalog.Project{{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}}, specs, nil))
	w := &benchWorld{up: up, db: db, branch: branch, syncer: ingest.New(ingest.Options{DB: db, Languages: table, MirrorDir: b.TempDir()})}
	w.editor = editing.New(editing.Options{DB: db, Syncer: w.syncer, Languages: table})
	w.pusher = push.New(push.Options{DB: db, Syncer: w.syncer, Editor: w.editor, Languages: table, Name: "repoglot", Email: func() string { return "noreply@example.org" }, BaseURL: func() string { return "" }})
	_, err = w.syncer.Sync(b.Context(), branch)
	gittest.Must(b, err)
	gittest.Must(b, db.Read(b.Context(), func(ctx context.Context, snap *store.Snapshot) error {
		c, err := snap.Component(ctx, "demo", "app")
		if err != nil {
			return err
		}
		all, err := snap.Translations(ctx, c.ID)
		for i := range all {
			w.total += all[i].Stats.Total.Units
			if !all[i].IsSource {
				w.first = all[i]
			}
		}
		if err == nil {
			w.units, err = snap.Units(ctx, w.first.ID, 0, n)
		}
		return err
	}))
	return w
}

var jana = edit.Author{Name: "Jana", Email: "jana@example.org"}

// edit edits strings from one on, in one transaction each.
func (w *benchWorld) edit(b *testing.B, from, n int, text string) {
	for i := range n {
		u := &w.units[(from+i)%len(w.units)]
		_, err := w.editor.Edit(b.Context(), w.first.ComponentID, w.first.ID, jana,
			[]edit.Request{{UnitID: u.ID, Target: []string{fmt.Sprintf("%s %d", text, from+i)}, State: catalog.StateTranslated}})
		gittest.Must(b, err)
	}
}

// BenchmarkEdit stores one edit, durably and checked; REPOGLOT_BENCH_LANGUAGES sets the
// number of translations of 20,000 strings.
func BenchmarkEdit(b *testing.B) {
	languages, err := strconv.Atoi(os.Getenv("REPOGLOT_BENCH_LANGUAGES"))
	if err != nil {
		languages = 2
	}
	w, n := newBenchWorld(b, languages, 20_000), 0
	for b.Loop() {
		w.edit(b, n, 1, "Text")
		n++
	}
	b.ReportMetric(float64(w.total), "units")
}

// BenchmarkFlush commits and pushes 500 edits.
func BenchmarkFlush(b *testing.B) {
	w, n := newBenchWorld(b, 2, 2000), 0
	for b.Loop() {
		b.StopTimer()
		w.edit(b, n, 500, "Text")
		n += 500
		b.StartTimer()
		report, err := w.pusher.Flush(b.Context(), w.branch, func(*store.BranchComponent) push.Destination { return push.Destination{} })
		gittest.Must(b, err)
		if report.Edits != 500 {
			b.Fatal(report)
		}
	}
}

// BenchmarkFlushMany pushes commits of many authors and languages, and pulls them.
// REPOGLOT_BENCH_LARGE has 1,460 commits of files of 20,000 strings too.
func BenchmarkFlushMany(b *testing.B) {
	sizes := []struct{ authors, languages, strings int }{{20, 14, 1400}}
	if os.Getenv("REPOGLOT_BENCH_LARGE") != "" {
		sizes = append(sizes, struct{ authors, languages, strings int }{73, 20, 20_000})
	}
	for _, size := range sizes {
		b.Run(fmt.Sprintf("commits=%d/strings=%d", size.authors*size.languages, size.strings), func(b *testing.B) {
			w, n := newBenchWorld(b, size.languages, size.strings), 0
			for b.Loop() {
				b.StopTimer()
				n++
				w.editAll(b, size.authors, n)
				b.StartTimer()
				report, err := w.pusher.Flush(b.Context(), w.branch, func(*store.BranchComponent) push.Destination { return push.Destination{} })
				gittest.Must(b, err)
				if report.Commits != size.authors*size.languages {
					b.Fatal(report)
				}
			}
		})
	}
}

// editAll has each of some authors edit a string in each language.
func (w *benchWorld) editAll(b *testing.B, authors, n int) {
	var all []catalog.Translation
	units := map[int64][]catalog.Unit{}
	gittest.Must(b, w.db.Read(b.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
		if all, err = snap.Translations(ctx, w.first.ComponentID); err != nil {
			return err
		}
		for i := range all {
			if units[all[i].ID], err = snap.Units(ctx, all[i].ID, 0, authors); err != nil {
				return err
			}
		}
		return nil
	}))
	for a := range authors {
		by := edit.Author{Name: fmt.Sprint("Author ", a), Email: fmt.Sprintf("%d@example.org", a)}
		for i := range all {
			if all[i].IsSource {
				continue
			}
			_, err := w.editor.Edit(b.Context(), w.first.ComponentID, all[i].ID, by,
				[]edit.Request{{UnitID: units[all[i].ID][a].ID, Target: []string{fmt.Sprintf("Text %d of %d", a, n)}, State: catalog.StateTranslated}})
			gittest.Must(b, err)
		}
	}
}

// BenchmarkUpdate updates 100 files of 5,000 strings to a template that has gained 100 and lost
// 100, from the commit of the template to the pull of ours; or, with REPOGLOT_BENCH_NEW, files of
// 500 strings to one that has gained so many, which waits for an admin beyond 5,000,000 in all.
func BenchmarkUpdate(b *testing.B) {
	files, from, gained, lost := 100, 5000, 100, 100
	if n, err := strconv.Atoi(os.Getenv("REPOGLOT_BENCH_NEW")); err == nil {
		from, gained, lost = 500, n, 0
	}
	w := newBenchWorld(b, files, 1)
	template := func(first, n int) string {
		_, text, _ := strings.Cut(poOf(first+n, func(int) string { return "" }), fmt.Sprintf("\nmsgid \"String number %d of", first))
		return "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"String number " + strconv.Itoa(first) + " of" + text
	}
	all := gittest.Files{"app.pot": template(0, from)}
	for i := range files {
		all[fmt.Sprintf("po/x%c%c.po", 'a'+i/26, 'a'+i%26)] = poOf(from, func(i int) string { return fmt.Sprint("Text ", i) })
	}
	head := func() object.Hash {
		id, err := object.ReadRef(w.up.Dir, "refs/heads/main")
		gittest.Must(b, err)
		return id
	}
	w.up.Push("Other", all, head())
	branch, specs, _ := catalogtest.BranchOf(w.up.Dir, "main", map[string]catalog.ComponentSettings{"app": {
		NewBase: "app.pot", LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushDirect, Update: catalog.Update{On: true}},
	}})
	gittest.Must(b, w.db.Configure(b.Context(), []catalog.Project{{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}}, specs, nil))
	flush := func() push.Report {
		report, err := w.pusher.Flush(b.Context(), branch, func(*store.BranchComponent) push.Destination { return push.Destination{} })
		gittest.Must(b, err)
		return report
	}
	flush()
	first, n, most := 0, from, peak(b)
	for b.Loop() {
		b.StopTimer()
		first, n = first+lost, n+gained-lost
		now := filesAt(b, w.up, head())
		now["app.pot"] = template(first, n)
		w.up.Push("Other", now, head())
		b.StartTimer()
		if report := flush(); report.Commits+len(report.Held) != 1 || (report.Commits == 0) != (files*gained > 5_000_000) {
			b.Fatal(report)
		}
	}
	b.ReportMetric(most(), "MiB")
}

// peak returns a function for the largest heap since its call beyond that of then, looked at 50 times a second.
func peak(b *testing.B) func() float64 {
	b.Helper()
	heap := func() float64 {
		s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(s)
		return float64(s[0].Value.Uint64()) / (1 << 20)
	}
	runtime.GC()
	base, most, done, ended := heap(), 0.0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-tick.C:
				most = max(most, heap()-base)
			case <-done:
				return
			}
		}
	}()
	return func() float64 { close(done); <-ended; return most }
}

// BenchmarkFill translates 500 strings that a file of 5,000 lacks, one after the other or in an
// upload, and flushes them.
func BenchmarkFill(b *testing.B) {
	for _, by := range []string{"edits", "upload"} {
		b.Run("by="+by, func(b *testing.B) {
			w := newBenchWorld(b, 2, 5000)
			n := 5000
			tip := func() object.Hash {
				id, err := object.ReadRef(w.up.Dir, "refs/heads/main")
				gittest.Must(b, err)
				return id
			}
			branch, specs, _ := catalogtest.BranchOf(w.up.Dir, "main", map[string]catalog.ComponentSettings{"app": {
				NewBase: "app.pot", LanguageRegex: "^[^.]+$", Edits: catalog.Edits{Mode: catalog.PushDirect},
			}})
			gittest.Must(b, w.db.Configure(b.Context(), []catalog.Project{{Slug: "demo", Settings: catalog.ProjectSettings{Name: "Demo"}}}, specs, nil))
			var flushed time.Duration
			for b.Loop() {
				b.StopTimer()
				n += 500
				now := filesAt(b, w.up, tip())
				now["app.pot"] = poOf(n, func(int) string { return "" })
				w.up.Push("Other", now, tip())
				_, err := w.syncer.Sync(b.Context(), branch)
				gittest.Must(b, err)
				var missing []catalog.Unit
				gittest.Must(b, w.db.Read(b.Context(), func(ctx context.Context, snap *store.Snapshot) (err error) {
					c, err := snap.Component(ctx, "demo", "app")
					if err != nil {
						return err
					}
					found, err := snap.Search(ctx, store.SearchQuery{Components: map[int64]*store.ComponentRow{c.ID: &c}, TranslationID: w.first.ID, Missing: true, Expr: query.All})
					if err == nil {
						missing, _, err = found.Page(ctx, 0, 1000)
					}
					return err
				}))
				b.StartTimer()
				if by == "upload" {
					_, err = w.editor.Upload(b.Context(), w.first.ComponentID, w.first.ID, jana, []byte(poOf(n, func(i int) string { return fmt.Sprint("Text ", i) })), edit.UploadOptions{Method: edit.Translate})
					gittest.Must(b, err)
				}
				for i := range missing {
					if by == "edits" {
						_, err = w.editor.Edit(b.Context(), w.first.ComponentID, w.first.ID, jana, []edit.Request{{SourceID: missing[i].ID, Target: []string{fmt.Sprint("Text ", i)}, State: catalog.StateTranslated}})
						gittest.Must(b, err)
					}
				}
				started := time.Now()
				report, err := w.pusher.Flush(b.Context(), branch, func(*store.BranchComponent) push.Destination { return push.Destination{} })
				gittest.Must(b, err)
				if flushed += time.Since(started); report.Commits != 1 || len(missing) != 500 {
					b.Fatal(report, len(missing))
				}
			}
			b.ReportMetric(flushed.Seconds()/float64(b.N), "s-flush")
		})
	}
}

// BenchmarkUpload uploads a file of 20,000 new translations.
func BenchmarkUpload(b *testing.B) {
	w, n := newBenchWorld(b, 2, 20_000), 0
	for b.Loop() {
		n++
		data := []byte(poOf(20_000, func(i int) string { return fmt.Sprintf("Text %d of %d", i, n) }))
		counts, err := w.editor.Upload(b.Context(), w.first.ComponentID, w.first.ID, jana, data, edit.UploadOptions{Method: edit.Translate, Conflicts: "replace-translated"})
		gittest.Must(b, err)
		if counts.Accepted != 20_000 {
			b.Fatal(counts)
		}
	}
}
