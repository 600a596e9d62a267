package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/poparse/diff"
	"github.com/repoglot/repoglot/testrepos"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

// comparison is what Syncer.Compare tells of a component.
func comparison(w *catalogtest.Puller, slug, from, to string) (report *diff.Report, err error) {
	w.Read(func(ctx context.Context, snap *store.Snapshot) error {
		row, readErr := snap.Component(ctx, "demo", slug)
		if readErr == nil {
			report, err = w.Syncer.Compare(ctx, &row, from, to, nil)
		}
		return readErr
	})
	return report, err
}

func pathsOf(report *diff.Report) (paths []string) {
	for i := range report.Files {
		paths = append(paths, report.Files[i].Path)
	}
	slices.Sort(paths)
	return paths
}

// TestCompareReaches: commits are compared if the component's head reaches both, and git says
// which these are; all others are not found, whatever the mirror has. The files are those that
// the component serves, and git says which of these differ.
func TestCompareReaches(t *testing.T) {
	t.Parallel()
	for seed := range uint64(testsize.Of(4, 12, 100)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { compareAtRandom(t, rand.New(rand.NewPCG(seed, 26))) })
	}
}

func compareAtRandom(t *testing.T, random *rand.Rand) {
	repo := testrepos.Empty(t)
	names := []string{"po/cs.po", "po/de.po", "po/app.pot", "po/de.formal.po", "po/source.po", "docs/cs.po", "po/deep/cs.po", "README", "po/pt_BR.po"}
	served := map[string][]string{"app": {"po/app.pot", "po/cs.po", "po/de.po", "po/pt_BR.po"}, "docs": {"docs/cs.po"}}
	n := 0
	files := func() map[string]string {
		all := map[string]string{}
		for range 1 + random.IntN(4) {
			n++
			all[names[random.IntN(len(names))]] = po("One", fmt.Sprint("text ", n))
		}
		return all
	}
	all := []string{repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "1"), "docs/cs.po": po("One", "1")}})}
	some := func() string { return all[random.IntN(len(all))] }
	w := catalogtest.NewPuller(t, repo.Path(), map[string]catalog.ComponentSettings{
		"app": {NewBase: "po/app.pot", SuggestionBranches: "l10n/*"}, "docs": {Filemask: "docs/*.po"},
	})
	t.Cleanup(w.Syncer.Close)
	for range 6 {
		for range 1 + random.IntN(4) {
			branch := []string{"main", "main", "l10n/a", "other"}[random.IntN(4)]
			switch {
			case random.IntN(6) == 0: // also of main, which then loses commits
				repo.Branch(t, branch, some())
			case branch != "main" && random.IntN(2) == 0:
				all = append(all, repo.Commit(t, testrepos.Change{Branch: branch, Parents: []string{some()}, Force: true, Files: files()}))
			case random.IntN(4) == 0:
				all = append(all, repo.Commit(t, testrepos.Change{Branch: "main", Parents: []string{repo.Head(), some()}, Force: true, Files: files()}))
			default:
				all = append(all, repo.Commit(t, testrepos.Change{Branch: branch, Parents: []string{some()}, Force: true, Files: files()}))
			}
		}
		w.Sync()
		head := headOf(w, "app")
		reached := strings.Fields(gittest.RunGit(t, repo.Dir, "rev-list", head))
		tree := gittest.RunGit(t, repo.Dir, "rev-parse", head+"^{tree}")
		blob := gittest.RunGit(t, repo.Dir, "rev-parse", reached[len(reached)-1]+":po/cs.po")
		for range 25 {
			pick := func() string {
				if random.IntN(6) > 0 {
					return some()
				}
				odd := []string{tree, blob, strings.Repeat("0", 40), strings.Repeat("ab", 20), head[:39], head[:8], head + "0", "main", "", "HEAD", head + "^"}
				return odd[random.IntN(len(odd))]
			}
			from, to, slug := pick(), pick(), []string{"app", "docs"}[random.IntN(2)]
			report, err := comparison(w, slug, from, to)
			if !slices.Contains(reached, from) || !slices.Contains(reached, to) {
				if !errors.Is(err, catalog.ErrNotFound) || err.Error() != catalog.ErrNotFound.Error() {
					t.Fatalf("%s...%s: %v, and the head is %s", from, to, err, head)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Fields(gittest.RunGit(t, repo.Dir, "diff", "--no-renames", "--name-only", from, to))
			want = slices.DeleteFunc(want, func(name string) bool { return !slices.Contains(served[slug], name) })
			if got := pathsOf(report); !slices.Equal(got, want) || report.Base != from || report.Head != to {
				t.Fatalf("%s of %s...%s: %v, want %v", slug, from, to, got, want)
			}
			for _, f := range report.Files {
				language := strings.TrimSuffix(filepath.Base(f.Path), ".po")
				if f.Template != (f.Path == "po/app.pot") || !f.Template && f.Language != language {
					t.Fatalf("%+v", f)
				}
			}
		}
	}
}

// TestCompareElsewhere: a file in the place of a template from elsewhere is not served, so it
// is not compared.
func TestCompareElsewhere(t *testing.T) {
	t.Parallel()
	repo, template := repoWith(t, map[string]string{"po/cs.po": po("One", "1"), "po/app.pot": po("Secret", "")}), repoWith(t, map[string]string{"po/app.pot": po("One", "")})
	first := repo.Head()
	last := repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "2"), "po/app.pot": po("Secret", "", "More", "")}})
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot", TemplateRepo: template.URL()}})
	t.Cleanup(w.Syncer.Close)
	report, err := comparison(w, "app", first, last)
	if err != nil || !slices.Equal(pathsOf(report), []string{"po/cs.po"}) {
		t.Errorf("%v %v", report, err)
	}
}

// TestCompareBounds: files, their sizes and the time are bounded, and the error says which
// bound was met.
func TestCompareBounds(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 201 {
		many[fmt.Sprintf("po/x%c%c.po", 'a'+i/20, 'a'+i%20)] = po("One", "1")
	}
	repo := repoWith(t, many)
	at := []string{repo.Head()}
	commit := func(files map[string]string) {
		at = append(at, repo.Commit(t, testrepos.Change{Files: files}))
	}
	commit(map[string]string{"po/xaa.po": po("One", "2")})
	commit(map[string]string{"po/xaa.po": po("One", strings.Repeat("large ", 1000))})
	for name := range many {
		many[name] = po("One", "3")
	}
	commit(many)
	w := catalogtest.PullerAt(t, t.TempDir())
	w.MaxFileSize = 4000
	w.Open()
	w.Configure(repo.Path(), "", map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	t.Cleanup(w.Syncer.Close)
	for _, c := range []struct{ from, to, want string }{
		{at[0], at[1], ""},
		{at[3], at[3], ""},
		{at[0], at[3], "201 files differ, and at most 200 are compared"},
		{at[3], at[0], "201 files differ, and at most 200 are compared"},
		{at[1], at[2], "po/xaa.po: file"},
	} {
		_, err := comparison(w, "app", c.from, c.to)
		if (c.want == "") != (err == nil) || err != nil && (!errors.Is(err, ingest.ErrCompareBound) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	w.Syncer.SetCompareTime(0)
	for range 2 { // the history is known
		if _, err := comparison(w, "app", at[0], at[1]); !errors.Is(err, ingest.ErrCompareBound) || !strings.Contains(err.Error(), "more than 0s") {
			t.Error(err)
		}
	}
}

// TestCompareHostile: files that would take much more memory than they have bytes are not
// read, and many strings that are alike cost no more time than is given.
func TestCompareHostile(t *testing.T) {
	t.Parallel()
	file := func(size int, line string) string {
		var b strings.Builder
		b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
		for n := 0; b.Len() < size; n++ {
			fmt.Fprintf(&b, line, n)
		}
		return b.String()
	}
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "1")})
	small := repo.Head()
	at := func(text string) string {
		return repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": text}})
	}
	tiny, long := at(file(2<<20, "msgid\"%x\"msgstr\"\"\n")), at(po("One", strings.Repeat("long ", 1<<20)))
	size := testsize.Of(80, 300, 300) << 10
	alike := at(file(size, "msgid \"Something that is like many others, number 1%07d\"\nmsgstr \"x\"\n"))
	others := at(file(size, "msgid \"Something that is like many others, number 2%07d\"\nmsgstr \"x\"\n"))
	at(po("One", "2"))
	w := catalogtest.PullerAt(t, t.TempDir())
	w.Change = func(o *ingest.Options) { o.Memory = 1 << 20 }
	w.Open()
	w.Configure(repo.Path(), "", map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	t.Cleanup(w.Syncer.Close)
	for _, large := range []string{tiny, long} {
		_, err := comparison(w, "app", small, large)
		if _, back := comparison(w, "app", large, small); err == nil || back == nil || !errors.Is(err, ingest.ErrCompareBound) || !errors.Is(back, ingest.ErrCompareBound) {
			t.Errorf("%v; %v", err, back)
		}
	}
	w.Syncer.SetCompareTime(time.Hour)
	report, err := comparison(w, "app", alike, others)
	if err != nil || report.Counts.Added+report.Counts.Reworded < size/100 || len(report.Files[0].Strings) > 10_000 {
		t.Errorf("%v %+v", err, report)
	}
}

// TestCompareWithoutMirror: where the mirror is not, or lacks the head, that is said, of any
// commits alike.
func TestCompareWithoutMirror(t *testing.T) {
	t.Parallel()
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "1")})
	head := repo.Head()
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	w.Syncer.Close()
	without := func() {
		t.Helper()
		for _, id := range []string{head, strings.Repeat("ab", 20)} {
			if _, err := comparison(w, "app", head, id); !errors.Is(err, ingest.ErrNoMirror) {
				t.Error(err)
			}
		}
	}
	w.Syncer = w.NewSyncer(catalogtest.Now)
	t.Cleanup(func() { w.Syncer.Close() })
	without() // nothing was pulled
	if _, err := w.Syncer.Mirror(t.Context(), w.Branch); err != nil {
		t.Fatal(err)
	}
	if _, err := comparison(w, "app", head, head); err != nil {
		t.Error(err)
	}
	if err := os.RemoveAll(w.Mirrors()); err != nil {
		t.Fatal(err)
	}
	w.Syncer.Close()
	w.Syncer = w.NewSyncer(catalogtest.Now)
	if _, err := w.Syncer.Mirror(t.Context(), w.Branch); err != nil {
		t.Fatal(err)
	}
	without() // never fetched
}

// BenchmarkCompare compares two commits of a component with 50 languages, of which the second
// one updates all files to the template: other references and dates, four strings. The mirror
// is opened anew each time; its history is known.
func BenchmarkCompare(b *testing.B) {
	for _, size := range []int{1000, 2500, 5000} {
		b.Run(fmt.Sprintf("languages=50/strings=%d", size), func(b *testing.B) {
			file := func(language string, round int) string {
				var s strings.Builder
				fmt.Fprintf(&s, "msgid \"\"\nmsgstr \"\"\n\"POT-Creation-Date: 2026-01-%02d 10:00+0000\\n\"\n\"Language: %s\\n\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n", round, language)
				for n := range size {
					word := ""
					if n == 7 && round == 2 {
						word = " again"
					}
					fmt.Fprintf(&s, "\n#: src/part%d.c:%d\nmsgid \"Message number %d of the program is about something%s\"\nmsgstr \"%s %d: text\"\n", n%50, n+round, n, word, language, n)
				}
				for n := range 3 * (round - 1) {
					fmt.Fprintf(&s, "\n#: src/new.c:%d\nmsgid \"New message %d\"\nmsgstr \"\"\n", n, n)
				}
				return s.String()
			}
			repo := testrepos.Empty(b)
			var at []string
			for round := 1; round <= 2; round++ {
				files := map[string]string{"po/app.pot": file("", round)}
				for i := range 50 {
					language := fmt.Sprintf("x%c%c", 'a'+i/10, 'a'+i%10)
					files["po/"+language+".po"] = file(language, round)
				}
				at = append(at, repo.Commit(b, testrepos.Change{Files: files}))
			}
			w := catalogtest.NewPuller(b, repo.Path(), map[string]catalog.ComponentSettings{"app": {NewBase: "po/app.pot"}})
			b.Cleanup(w.Syncer.Close)
			w.Sync()
			w.Syncer.SetCompareTime(time.Minute) // also on a busy machine
			b.ReportAllocs()
			for b.Loop() {
				report, err := comparison(w, "app", at[0], at[1])
				if err != nil || report.Sources.Added != 3 || report.Sources.Reworded != 1 || len(report.Files) != 51 {
					b.Fatalf("%v %+v", err, report)
				}
			}
		})
	}
}
