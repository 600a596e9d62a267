package flush

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/edit"
	"github.com/repoglot/repoglot/gitsource"
	"github.com/repoglot/repoglot/gitsource/derive"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/gitsource/object"
	"github.com/repoglot/repoglot/gitsource/remote"
	"github.com/repoglot/repoglot/testrepos/testsize"
)

type upstream = gittest.Upstream[object.Hash]

const done = catalog.StateTranslated

var (
	start     = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	committer = object.Signature{Name: "repoglot", Email: "noreply@example.org", When: start.Add(time.Hour)}
)

// by is an author at a minute.
func by(name string, minute int) edit.Author {
	return edit.Author{Name: name, Email: strings.ToLower(name) + "@example.org", Time: start.Add(time.Duration(minute) * time.Minute)}
}

// change is an edit of an untranslated string.
func change(id, text string, authors ...edit.Author) edit.Edit {
	return edit.Edit{Source: id, Ours: edit.Text{Target: text, State: done}, Authors: authors}
}

var po = catalogtest.PO

// mirrorOf fetches a repository.
func mirrorOf(t *testing.T, up *upstream) *gitsource.Mirror {
	t.Helper()
	m, err := gitsource.Open(t.Context(), filepath.Join(t.TempDir(), "mirror"), remote.Repository{URL: up.Dir, Branch: "main"}, gitsource.Options{})
	gittest.Must(t, err)
	_, err = m.Fetch(t.Context())
	gittest.Must(t, err)
	return m
}

// derived is Derive on the mirror's head.
func derived(t *testing.T, m *gitsource.Mirror, files []File, o Options) Result {
	t.Helper()
	w, err := m.Writer(t.Context())
	gittest.Must(t, err)
	defer w.Close()
	o.Committer = committer
	result, err := Derive(t.Context(), w, files, o)
	gittest.Must(t, err)
	return result
}

// styles is one style for the components of the tests.
func styles(s Style) map[string]Style { return map[string]Style{"app": s, "docs": s, "c": s} }

// TestGroups makes the commits of each value of commit_by.
func TestGroups(t *testing.T) {
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("A", gittest.Files{"po/cs.po": po("a", "", "b", ""), "po/de.po": po("a", "", "b", ""), "doc/cs.po": po("a", "")})
	m := mirrorOf(t, up)
	files := []File{
		{Component: "app", Language: "cs", Path: "po/cs.po", Edits: []edit.Edit{
			change("a", "á", by("Jana", 5)), change("b", "bé", by("Jana", 1), by("Petr", 2)), change("gone", "x", by("Eva", 0)),
		}},
		{Component: "app", Language: "de", Path: "po/de.po", Edits: []edit.Edit{change("a", "ä", by("Jana", 3))}},
		{Component: "docs", Language: "cs", Path: "doc/cs.po", Edits: []edit.Edit{change("a", "á", by("Jana", 4))}},
	}
	for commitBy, want := range map[string][]string{
		"":                {"app cs: Petr+Jana", "app de: Jana", "docs cs: Jana", "app cs: Jana"},
		"author+language": {"app cs: Petr+Jana", "app de: Jana", "docs cs: Jana", "app cs: Jana"},
		"author":          {"app cs: Petr+Jana", "app cs,de: Jana", "docs cs: Jana"},
		"language":        {"app cs: Jana+Petr", "app de: Jana", "docs cs: Jana"},
		"all":             {"app cs,de: Jana+Petr", "docs cs: Jana"},
	} {
		t.Run(string(commitBy), func(t *testing.T) {
			result := derived(t, m, files, Options{Styles: styles(Style{By: commitBy})})
			var got []string
			for _, g := range result.Commits {
				line := g.Component + " " + strings.Join(g.Languages, ",") + ": " + g.Author.Name
				for _, other := range g.Others {
					line += "+" + other.Name
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if o := result.Outcomes[0][2].Outcome; o != edit.Gone {
				t.Errorf("a string that is not there: %v", o)
			}
			if again := derived(t, m, files, Options{Styles: styles(Style{By: commitBy})}); again.Head != result.Head {
				t.Errorf("again: %s, first %s", again.Head, result.Head)
			}
		})
	}
}

// TestCommits compares commits with git's view of them.
func TestCommits(t *testing.T) {
	gittest.NeedGit(t)
	up := gittest.NewUpstream[object.Hash](t)
	base := up.Push("A", gittest.Files{"po/cs.po": po("a", "", "b", ""), "other": "x"})
	m := mirrorOf(t, up)
	files := []File{{Component: "app", Language: "cs", Path: "po/cs.po", Edits: []edit.Edit{
		change("a", "á", by("Jana", 1)), change("b", "bé", by("Jana", 0), by("Petr", 2)),
	}}}
	for i := range files[0].Edits {
		files[0].Edits[i].Reviewer = edit.Author{Name: "Eva", Email: "eva@example.org"}
	}
	o := Options{Styles: styles(Style{By: "all", SignOff: true}), Committer: committer, Message: func(g Group) string { return "Translate " + g.Component + " " + g.Languages[0] }}
	result, err := Run(t.Context(), m, Target{Branch: "main"}, always(files, o))
	gittest.Must(t, err)
	if result.Parent != base || len(result.Commits) != 1 {
		t.Fatalf("%+v", result)
	}
	got := gittest.RunGit(t, up.Dir, "log", "-1", "-p", "--format=%an <%ae> %aI | %cn <%ce> %cI%n%B", "main")
	const want = `Petr <petr@example.org> 2026-05-01T12:02:00Z | repoglot <noreply@example.org> 2026-05-01T13:00:00Z
Translate app cs

Co-authored-by: Jana <jana@example.org>
Reviewed-by: Eva <eva@example.org>
Signed-off-by: Petr <petr@example.org>


diff --git a/po/cs.po b/po/cs.po
index 7a9ba37..86dc5fe 100644
--- a/po/cs.po
+++ b/po/cs.po
@@ -2,7 +2,7 @@ msgid ""
 msgstr "Content-Type: text/plain; charset=UTF-8\n"
 
 msgid "a"
-msgstr ""
+msgstr "á"
 
 msgid "b"
-msgstr ""
+msgstr "bé"`
	index := strings.Index(got, "index ")
	if index > 0 {
		got = got[:index] + "index 7a9ba37..86dc5fe 100644" + got[index+strings.IndexByte(got[index:], '\n'):]
	}
	if diff := cmp.Diff(want, strings.ReplaceAll(got, "+00:00", "Z")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	again, err := Run(t.Context(), m, Target{Branch: "main"}, always(files, o))
	gittest.Must(t, err)
	if again.Head != again.Parent || again.Outcomes[0][0].Outcome != edit.Done || again.Outcomes[0][1].Outcome != edit.Done {
		t.Errorf("flushed again: %+v", again)
	}
}

// TestProblems has files that cannot be written.
func TestProblems(t *testing.T) {
	up := gittest.NewUpstream[object.Hash](t)
	up.Push("A", gittest.Files{
		"broken.po": "msgid", "lfs.po": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "large.po": po("a", strings.Repeat("x", 5000)), "good.po": po("a", ""),
	})
	m := mirrorOf(t, up)
	var files []File
	for _, path := range []string{"broken.po", "lfs.po", "large.po", "none.po", "good.po"} {
		files = append(files, File{Path: path, Edits: []edit.Edit{change("a", "b", by("J", 1))}})
	}
	result := derived(t, m, files, Options{MaxFile: 4000})
	for i, want := range []string{"broken.po: ", "Git LFS", "too large"} {
		if err := result.Problems[i]; err == nil || !strings.Contains(err.Error(), want) || result.Outcomes[i][0].Outcome != 0 {
			t.Errorf("%s: %v, %v", files[i].Path, err, result.Outcomes[i])
		}
	}
	if len(result.Problems) != 3 || result.Outcomes[3][0].Outcome != edit.Gone || result.Outcomes[4][0].Outcome != edit.Applied || len(result.Commits) != 1 {
		t.Errorf("%+v", result)
	}
	term := &edit.NewString{Source: "b"}
	changes := []FileChange{
		{Path: "lfs.po", String: term},
		{Path: "large.po"}, // is there
		{Path: "cs.po", Template: "large.po"},
		{Path: "none.po", String: term},
		{Path: "lfs.po", Removes: true},
		{Path: "large.po", Removes: true},
	}
	for i := range changes {
		changes[i].New.Author = by("J", 1)
	}
	result = derived(t, m, nil, Options{MaxFile: 4000, Files: changes})
	for i, want := range []string{"Git LFS", "", "large.po: ", "no such file", "", ""} {
		if err := result.FileProblems[i]; (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", changes[i].Path, err, want)
		}
	}
	if len(result.Commits) != 2 || !result.Commits[0].Removes || !result.Commits[1].Removes {
		t.Errorf("%+v", result)
	}
}

// TestPaths has paths that cannot be written, beside ones that can: what cannot be done says
// why, and all else is committed, in whatever commit it is with the others.
func TestPaths(t *testing.T) {
	gittest.NeedGit(t)
	up := gittest.NewUpstream[object.Hash](t)
	odd := []string{"web:v2/cs.po", "docs/\u0631\u0627\u0647\u200c\u0646\u0645\u0627/cs.po"} // git takes both
	up.Push("A", gittest.Files{
		"po/pt/app.po": po("a", ""), "po/pt_BR": "->pt", "po/de.po/x": "x", "po/mod": "@", "app.pot": po("a", ""), "l10n/LINGUAS": "->../po/de.po/x",
		odd[0]: po("a", ""), odd[1]: po("a", ""), `web\v2/cs.po`: po("a", ""),
	})
	m := mirrorOf(t, up)
	for _, commitBy := range []string{"author+language", "all"} {
		files := []File{{Language: "cs", Path: odd[0]}, {Language: "fa", Path: odd[1]}, {Language: "pt", Path: "po/pt/app.po"}, {Language: "xh", Path: `web\x5cv2/cs.po`}}
		for i := range files {
			files[i].Edits = []edit.Edit{change("a", "b", by("J", i))}
		}
		add := func(path string) FileChange {
			return FileChange{Path: path, Template: "app.pot", New: edit.NewFile{Code: "de", Author: by("J", 1)}}
		}
		changes := []FileChange{
			add("po/pt_BR/app.po"), add("po/de.po"), add("po/mod/de.po"), add("app.pot/de.po"), add("a:b/de.po"), add(".git/de.po"), add("l10n/de.po"),
			add("l10n/de.po/de.po"), // which the commit before makes a file
		}
		result := derived(t, m, files, Options{Styles: styles(Style{By: commitBy}), Files: changes})
		for i := range changes {
			if bad := i != 6; (result.FileProblems[i] != nil) != bad || bad && !errors.Is(result.FileProblems[i], derive.ErrPath) {
				t.Errorf("%s: %v", changes[i].Path, result.FileProblems[i])
			}
		}
		for i := range files {
			want, bad := edit.Applied, i == 3
			if bad {
				want = 0
			}
			if (result.Problems[i] != nil) != bad || result.Outcomes[i][0].Outcome != want {
				t.Errorf("%s: %v, %v", files[i].Path, result.Outcomes[i], result.Problems[i])
			}
		}
		path, _ := m.Path()
		if got := gittest.RunGit(t, path, "-c", "core.quotePath=false", "diff", "--name-only", result.Parent.String(), result.Head.String()); got != odd[1]+"\nl10n/de.po\npo/pt/app.po\n"+odd[0] {
			t.Errorf("commits change %q", got)
		}
		gittest.RunGit(t, path, "fsck", "--strict", "--no-dangling")
	}
}

// TestRace pushes while somebody else does: the flush derives anew on the new head.
func TestRace(t *testing.T) {
	gittest.NeedGit(t)
	up := gittest.NewUpstream[object.Hash](t)
	head := up.Push("A", gittest.Files{"cs.po": po("a", "", "b", "")})
	m := mirrorOf(t, up)
	asked := 0
	o := Options{Committer: committer}
	files := func(races int) func(context.Context, object.Head) ([]File, Options, error) {
		return func(context.Context, object.Head) ([]File, Options, error) {
			if asked++; asked <= races {
				head = up.Push("B", gittest.Files{"cs.po": po("a", "", "b", strings.Repeat("x", asked))}, head)
			}
			return []File{{Path: "cs.po", Edits: []edit.Edit{change("a", "á", by("J", 1))}}}, o, nil
		}
	}
	result, err := Run(t.Context(), m, Target{Branch: "main"}, files(2))
	gittest.Must(t, err)
	if asked != 3 || result.Parent != head {
		t.Errorf("derived %d times, on %s, want 3 and %s", asked, result.Parent, head)
	}
	if got := gittest.RunGit(t, up.Dir, "cat-file", "blob", "main:cs.po"); got != strings.TrimSpace(po("a", "á", "b", "xx")) {
		t.Errorf("main has %s", got)
	}
	asked, head = 0, up.Push("B", gittest.Files{"cs.po": po("a", "", "b", "")}, head)
	if _, err := Run(t.Context(), m, Target{Branch: "main"}, files(9)); !errors.Is(err, remote.ErrMoved) || asked != attempts {
		t.Errorf("after %d attempts: %v", asked, err)
	}
	failing := errors.New("no database")
	if _, err := Run(t.Context(), m, Target{Branch: "main"}, func(context.Context, object.Head) ([]File, Options, error) { return nil, o, failing }); !errors.Is(err, failing) {
		t.Errorf("%v", err)
	}
}

// always returns what Run asks for, with the same answer each time.
func always(files []File, o Options) func(context.Context, object.Head) ([]File, Options, error) {
	return func(context.Context, object.Head) ([]File, Options, error) { return files, o, nil }
}

// TestTakenBack: whoever puts the branch back, or removes it, while a flush has fetched it is
// not overruled by a push that would be a fast-forward of that, too.
func TestTakenBack(t *testing.T) {
	gittest.NeedGit(t)
	for _, gone := range []bool{false, true} {
		up := gittest.NewUpstream[object.Hash](t)
		good := up.Push("A", gittest.Files{"cs.po": po("a", "")})
		up.Push("B", gittest.Files{"cs.po": po("a", ""), "secret": "oops"}, good)
		m := mirrorOf(t, up)
		asked := 0
		_, err := Run(t.Context(), m, Target{Branch: "main"}, func(context.Context, object.Head) ([]File, Options, error) {
			if asked++; asked == 1 {
				if up.Set("main", good); gone {
					up.Remove("main")
				}
			}
			return []File{{Path: "cs.po", Edits: []edit.Edit{change("a", "á", by("J", 1))}}}, Options{Committer: committer}, nil
		})
		if gone {
			if _, there := object.ReadRef(up.Dir, "refs/heads/main"); err == nil || there == nil {
				t.Errorf("a branch that was removed is there again: %v", err)
			}
			continue
		}
		if got := gittest.RunGit(t, up.Dir, "log", "--format=%an", "main"); err != nil || got != "J\nA" {
			t.Errorf("commits of %q, %v", got, err)
		}
	}
}

// seeds is the number of histories of the model test.
func seeds() uint64 {
	return uint64(testsize.Of(3, 6, 1000))
}
