package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// TestLongUntranslated: after any pull, however late, even if it only moves the head or
// only reads other settings, a source string fails exactly if the commit that brought it
// was older than 90 days at the head's committer time and the percentage of its
// translations is less than half of the component's. A replay of the history agrees, and
// so does a recount, which finds any other verdict.
func TestLongUntranslated(t *testing.T) {
	total, spoilt := 0, 0
	for seed := range uint64(testsize.Of(2, 4, 4)) {
		r := rand.New(rand.NewPCG(seed, 13))
		languages := []string{"cs", "de", "fr", "ja", "nl", "pl", "sv"}
		files := map[string]map[string]string{} // language → source → target
		sources := []string{"One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"}
		for _, l := range languages {
			files[l] = map[string]string{}
			for i, s := range sources[:6] { // the others come later
				files[l][s] = ""
				if r.IntN(6) >= i {
					files[l][s] = "x"
				}
			}
		}
		text := func(entries map[string]string, flagged string) string {
			var b strings.Builder
			b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
			for _, s := range sources {
				target, ok := entries[s]
				if !ok {
					continue
				}
				b.WriteString("\n")
				if s == flagged {
					b.WriteString("#, ignore-long-untranslated\n")
				}
				fmt.Fprintf(&b, "msgid %q\nmsgstr %q\n", s, target)
			}
			return b.String()
		}
		repo := testrepos.Empty(t)
		now := time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC)
		flagged, gone := "", map[string]bool{}
		since := map[string]time.Time{} // of strings
		push := func(change bool) {
			for _, entries := range files {
				for s := range entries {
					if _, seen := since[s]; !seen {
						since[s] = now
					}
				}
			}
			c := testrepos.Change{When: now, Files: map[string]string{"README": fmt.Sprint(now)}}
			for _, l := range languages {
				path := "po/" + l + ".po"
				switch {
				case !change:
				case files[l] == nil && !gone[l]:
					c.Delete, gone[l] = append(c.Delete, path), true
				case files[l] != nil:
					c.Files[path], gone[l] = text(files[l], flagged), false
				}
			}
			repo.Commit(t, c)
		}
		push(true)
		settings := catalog.ComponentSettings{}
		w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": settings})
		for range 18 {
			w.Clock = now.Add(time.Duration(r.IntN(200*24)) * time.Hour)
			w.Sync()
			got, want := longUntranslated(w, now, since, flagged)
			if settings.CheckFlags != "" {
				want = nil
			}
			if !slices.Equal(got, want) {
				t.Fatalf("history %d at %s: %q fail, want %q", seed, now, got, want)
			}
			total += len(got)
			w.Verify()
			if r.IntN(4) == 0 {
				whole := settings
				whole.History.Full = true
				replayed := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": whole})
				if got, _ := longUntranslated(replayed, now, since, flagged); !slices.Equal(got, want) {
					t.Fatalf("history %d at %s: %q fail after a replay, want %q", seed, now, got, want)
				}
				replayed.Verify()
			}
			now = now.Add(time.Duration(r.IntN(45*24)) * time.Hour)
			switch r.IntN(12) {
			case 0:
				push(false)
				continue
			case 1:
				settings.CheckFlags = []string{"", "ignore-long-untranslated"}[r.IntN(2)]
				w.Configure(repo.URL(), "", map[string]catalog.ComponentSettings{"app": settings})
			case 2:
				l := languages[r.IntN(len(languages))]
				if files[l] = nil; r.IntN(2) == 0 {
					files[l] = map[string]string{"One": "x"}
				}
			case 3:
				flagged = sources[r.IntN(len(sources))]
			}
			for range 1 + r.IntN(4) {
				l, s := languages[r.IntN(len(languages))], sources[r.IntN(len(sources))]
				if files[l] == nil {
					files[l] = map[string]string{}
				}
				switch r.IntN(6) {
				case 0:
					delete(files[l], s)
				case 1:
					files[l][s] = ""
				default:
					files[l][s] = "x" + s[:r.IntN(2)]
				}
			}
			push(true)
		}
		for _, statement := range []string{
			"UPDATE behind SET total = total + 1", "DELETE FROM behind", "INSERT INTO behind SELECT id, 1, 1, 2, 0 FROM components",
			"DELETE FROM failing WHERE unit_id = source_id", "INSERT INTO failing SELECT id, translation_id, id, 549755813888, 0 FROM units WHERE id = source_id",
		} {
			before := mismatches(w)
			execute(w.Store, statement)
			spoilt += mismatches(w) - before
		}
	}
	if spoilt < 5 {
		t.Errorf("verify finds %d mismatches in what is counted", spoilt)
	}
	if total < 10 {
		t.Errorf("%d strings failed: the test compares nothing", total)
	}
}

// TestLongUntranslatedBeside: a string fails once it is old enough, whether the commit changes
// files of another component or of none.
func TestLongUntranslatedBeside(t *testing.T) {
	const head = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\nmsgid \"One\"\nmsgstr \"x\"\n"
	for _, path := range []string{"README", "b/cs.po"} {
		repo := testrepos.Empty(t)
		now := time.Date(2024, 1, 1, 9, 0, 0, 0, time.UTC)
		since := map[string]time.Time{"One": now, "Two": now.AddDate(0, 0, 100)}
		push := func(days int, path, text string) {
			now = now.AddDate(0, 0, days)
			repo.Commit(t, testrepos.Change{When: now, Files: map[string]string{path: text}})
		}
		push(0, "b/cs.po", head)
		push(0, "a/cs.po", head)
		w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"a": {Filemask: "a/*.po"}, "b": {Filemask: "b/*.po"}})
		for day, step := range []struct {
			days       int
			path, text string
		}{{0, "README", ""}, {100, "a/cs.po", head + "\nmsgid \"Two\"\nmsgstr \"\"\n"}, {50, path, head + "# 1\n"}, {41, path, head + "# 2\n"}} {
			push(step.days, step.path, step.text)
			w.Clock = now
			w.Sync()
			if got, want := longUntranslated(w, now, since, ""); !slices.Equal(got, want) || len(got) != day/3 {
				t.Errorf("%s, step %d: %q fail, want %q", path, day, got, want)
			}
			w.Verify()
		}
	}
}

// mismatches is the number of mistakes that a recount finds.
func mismatches(w *catalogtest.Puller) (n int) {
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		_, err := s.Verify(ctx, func(store.Mismatch) { n++ })
		return err
	})
	return n
}

// longUntranslated returns the source strings that fail, and the source strings that
// should.
func longUntranslated(w *catalogtest.Puller, head time.Time, since map[string]time.Time, flagged string) (got, want []string) {
	type row struct {
		source            *catalog.Unit
		total, translated int
	}
	rows := map[int64]*row{}
	units, done := int64(0), int64(0)
	w.EachUnit(func(_ *catalog.Component, tr *catalog.Translation, u *catalog.Unit) {
		units++
		if u.State.Translated() {
			done++
		}
		r := rows[u.SourceID]
		if r == nil {
			r = &row{}
			rows[u.SourceID] = r
		}
		if tr.IsSource {
			r.source = u
			return
		}
		if r.total++; u.State.Translated() {
			r.translated++
		}
	})
	percent := float64(catalog.Percent(done, units, 1000)) / 10
	for _, r := range rows {
		if r.source == nil {
			continue
		}
		if slices.Contains(failingNames(r.source), "long_untranslated") {
			got = append(got, r.source.Source)
		}
		old := head.Sub(since[r.source.Source]) > 90*24*time.Hour
		if old && r.total > 0 && 200*float64(r.translated)/float64(r.total) < percent && r.source.Source != flagged {
			want = append(want, r.source.Source)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	return got, want
}
