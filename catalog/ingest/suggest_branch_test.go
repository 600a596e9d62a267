package ingest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/gitsource/gittest"
	"github.com/repoglot/repoglot/testrepos"
)

// suggesting makes a store with one component that has suggestions, and pulls.
func suggesting(t *testing.T, repo *testrepos.Repo, c catalog.ComponentSettings) *catalogtest.Puller {
	t.Helper()
	return synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": c})
}

// on pushes files to a branch that begins at the head.
func on(t *testing.T, repo *testrepos.Repo, branch, author string, files map[string]string) {
	t.Helper()
	repo.Commit(t, testrepos.Change{Branch: branch, Parents: []string{repo.Head()}, Author: author, Files: files})
}

// wantServed compares the served suggestions, one a line.
func wantServed(w *catalogtest.Puller, what string, lines ...string) {
	w.TB.Helper()
	if got, want := servedSuggestions(w), strings.Join(lines, "\n"); got != want {
		w.TB.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

const pluralHead = "msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;\\n\"\n\n"

// TestSuggestedForms: plurals, contexts, texts of several branches, and branches that
// do not change the component.
func TestSuggestedForms(t *testing.T) {
	cs := func(few, menu string) map[string]string {
		return map[string]string{"po/cs.po": pluralHead + "msgid \"%d cup\"\nmsgid_plural \"%d cups\"\nmsgstr[0] \"%d šálek\"\nmsgstr[1] \"" + few + "\"\nmsgstr[2] \"%d šálků\"\n\n" +
			"msgctxt \"menu\"\nmsgid \"Open\"\nmsgstr \"" + menu + "\"\n\nmsgid \"Open\"\nmsgstr \"Otevřeno\"\n"}
	}
	repo := repoWith(t, cs("%d šálky", "Otevřít"))
	on(t, repo, "l10n/a", "A <a@example.org>", cs("%d hrnky", "Otevřít"))
	on(t, repo, "l10n/b", "B <b@example.org>", cs("%d hrníčky", "Rozevřít"))
	on(t, repo, "l10n/c", "C <c@example.org>", cs("", "Rozevřít"))
	on(t, repo, "l10n/d", "D <d@example.org>", map[string]string{"README": "nothing", "po/de.po": po("Open", "Öffnen"), "po/en.po": po("Open", "open!"), "other/cs.po": po("Open", "X")})
	on(t, repo, "l10n/e", "E <e@example.org>", map[string]string{"po/cs.po": strings.Replace(cs("%d šálky", "Otevřít")["po/cs.po"], "charset=UTF-8", "charset=utf-8", 1)})
	repo.Commit(t, testrepos.Change{Branch: "l10n/f", Parents: []string{repo.Head()}, Delete: []string{"po"}})
	w := suggesting(t, repo, catalog.ComponentSettings{SuggestionBranches: "l10n/*"})
	sep := catalog.FormSeparator
	line := func(source, target, by string) string {
		return fmt.Sprintf("app/cs %s: %q by %s at 09:01 on l10n/%s", source, target, strings.ToUpper(by), by)
	}
	cups := "%d cup" + sep + "%d cups"
	want := []string{
		"app/cs 2", line(cups, "%d šálek"+sep+sep+"%d šálků", "c"), line(cups, "%d šálek"+sep+"%d hrnky"+sep+"%d šálků", "a"), line(cups, "%d šálek"+sep+"%d hrníčky"+sep+"%d šálků", "b"),
		line("Open", "Rozevřít", "b"), line("Open", "Rozevřít", "c"),
	}
	slices.Sort(want)
	wantServed(w, "branches", want...)
	// The suggestion is for the string with the context.
	w.EachUnit(func(_ *catalog.Component, _ *catalog.Translation, u *catalog.Unit) {
		if u.Source == "Open" && u.HasSuggestion != (u.Context == "menu" && u.Target == "Otevřít") {
			t.Errorf("%q in context %q has a suggestion: %v", u.Target, u.Context, u.HasSuggestion)
		}
	})
}

// TestSuggestionAuthors: author and time come from the commit of the branch that
// introduced the text, with the name that the branch's .mailmap gives.
func TestSuggestionAuthors(t *testing.T) {
	file := func(one, two string) map[string]string {
		return map[string]string{"po/cs.po": po("One", one, "Two", two)}
	}
	repo := repoWith(t, file("Jedna", "Dvě"))
	first := repo.Head()
	commit := func(branch, author string, files map[string]string, parents ...string) {
		t.Helper()
		repo.Commit(t, testrepos.Change{Branch: branch, Parents: parents, Author: author, Committer: "Hub <hub@example.org>", Files: files})
	}
	commit("l10n/a", "Eva <eva@example.org>", file("Jeden", "Dva"), first)
	commit("l10n/a", "Jan <jan@example.org>", file("Jeden", "Oba"))
	w := suggesting(t, repo, catalog.ComponentSettings{SuggestionBranches: "l10n/*"})
	wantServed(w, "two authors", "app/cs 2", `app/cs One: "Jeden" by Eva at 09:01 on l10n/a`, `app/cs Two: "Oba" by Jan at 09:02 on l10n/a`)
	commit("l10n/a", "Ota <ota@example.org>", file("Jednou", "Oba"))
	commit("l10n/a", "Iva <iva@example.org>", file("Jeden", "Oba"))
	w.Sync()
	wantServed(w, "a text that was away belongs to who brought it back", "app/cs 2", `app/cs One: "Jeden" by Iva at 09:04 on l10n/a`, `app/cs Two: "Oba" by Jan at 09:02 on l10n/a`)
	commit("l10n/a", "Hub <hub@example.org>", map[string]string{".mailmap": "Eva Nová <iva@example.org>\n"})
	w.Sync()
	wantServed(w, "by .mailmap", "app/cs 2", `app/cs One: "Jeden" by Eva Nová at 09:04 on l10n/a`, `app/cs Two: "Oba" by Jan at 09:02 on l10n/a`)
	// Merging main into the branch brings main's texts, which are no suggestions.
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvojka", "Three", "Tři")}})
	repo.Commit(t, testrepos.Change{Merge: testrepos.DefaultBranch, Branch: "l10n/a", Author: "Hub <hub@example.org>", Files: map[string]string{"po/cs.po": po("One", "Jeden", "Two", "Oba", "Three", "Tři")}})
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvojka", "Three", "Trojka")}})
	wantServed(w, "main merged into it", "app/cs 2", `app/cs One: "Jeden" by Eva Nová at 09:04 on l10n/a`, `app/cs Two: "Oba" by Jan at 09:02 on l10n/a`)
}

// TestManySuggestingBranches: of 500 branches only as many are read as the component
// allows, by name; the rest is not even fetched.
func TestManySuggestingBranches(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna", "Two", "Dvě")})
	var refs strings.Builder
	for i := range 5 {
		repo.Commit(t, testrepos.Change{Branch: "work", Force: true, Parents: []string{repo.Head()}, Files: map[string]string{"po/cs.po": po("One", fmt.Sprint("Jedna ", i), "Two", "Dvě")}})
		tip := repo.Tip("work")
		for n := i; n < 500; n += 5 {
			fmt.Fprintf(&refs, "%s refs/heads/l10n/%03d\n", tip, n)
		}
	}
	must(t, os.WriteFile(filepath.Join(repo.Path(), "packed-refs"), []byte(refs.String()), 0o644))
	for _, c := range []struct {
		limit, read int
		last        string
	}{{0, 20, "019"}, {7, 7, "006"}, {120, 120, "119"}} {
		w := suggesting(t, repo, catalog.ComponentSettings{SuggestionBranches: "l10n/**", SuggestionLimit: c.limit})
		got := servedSuggestions(w)
		if n := strings.Count(got, " on l10n/"); n != c.read || !strings.Contains(got, " on l10n/"+c.last) || !strings.Contains(got, "app/cs 1\n") {
			t.Errorf("limit %d: %d suggestions:\n%s", c.limit, n, got)
		}
		held := 0
		err := filepath.WalkDir(filepath.Join(w.Dir, "mirrors"), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.Contains(path, "refs/repoglot/sides/l10n/") {
				held++
			}
			return err
		})
		if err != nil || held != c.read {
			t.Errorf("limit %d: %d branches fetched, %v", c.limit, held, err)
		}
		w.DB.Close()
	}
}

// TestSuggestionPatterns: which branches a pattern selects, never the component's own.
// An invalid pattern, which the configuration refuses, does not stop the pull.
func TestSuggestionPatterns(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	first := repo.Head()
	for i, branch := range []string{"l10n/cs", "l10n/cs/x", "l10n-cs", "feature/l10n/cs", "l10n/{a}"} {
		if branch == "l10n/cs/x" {
			branch = "l10n/de/cs" // "l10n/cs" cannot be a folder as well
		}
		repo.Commit(t, testrepos.Change{Branch: branch, Parents: []string{first}, Files: map[string]string{"po/cs.po": po("One", fmt.Sprint(i))}})
	}
	w := suggesting(t, repo, catalog.ComponentSettings{})
	for pattern, want := range map[string]string{
		"l10n/*": "l10n/cs l10n/de/cs l10n/{a}", "l10n/**": "l10n/cs l10n/de/cs l10n/{a}", "**/cs": "feature/l10n/cs l10n/cs l10n/de/cs",
		"l10n/*/cs": "l10n/de/cs", "l10n/{a}": "l10n/{a}", "l10n/{cs,de}": "", "*": "feature/l10n/cs l10n-cs l10n/cs l10n/de/cs l10n/{a}",
		"refs/heads/l10n/cs": "l10n/cs", "main": "", "l10n/[a-z]*": "", "": "",
	} {
		w.Configure(repo.Path(), "", map[string]catalog.ComponentSettings{"app": {}})
		w.Sync()
		wantServed(w, "without a pattern")
		w.Configure(repo.Path(), "", map[string]catalog.ComponentSettings{"app": {SuggestionBranches: pattern}})
		w.Sync()
		var branches []string
		for line := range strings.SplitSeq(servedSuggestions(w), "\n") {
			if _, branch, ok := strings.Cut(line, " on "); ok {
				branches = append(branches, branch)
			}
		}
		slices.Sort(branches)
		if got := strings.Join(branches, " "); got != want {
			t.Errorf("%s selects %s, want %s", pattern, got, want)
		}
	}
}

// TestSuggestionsOfSeveralComponents: components of one repository have their own
// patterns and limits, and share the branches.
func TestSuggestionsOfSeveralComponents(t *testing.T) {
	both := func(text string) map[string]string {
		return map[string]string{"po/cs.po": po("One", text), "docs/cs.po": po("Two", text)}
	}
	repo := repoWith(t, both("main"))
	for _, branch := range []string{"l10n/a", "l10n/b", "next"} {
		on(t, repo, branch, "", both(branch))
	}
	settings := map[string]catalog.ComponentSettings{
		"app":  {SuggestionBranches: "l10n/*", SuggestionLimit: 1},
		"docs": {Filemask: "docs/*.po", SuggestionBranches: "*"},
		"none": {Filemask: "po/*.po"},
	}
	w := synced(t, repo.Path(), settings)
	line := func(component, source, branch string) string {
		return fmt.Sprintf("%s/cs %s: %q by Test Author at 09:01 on %s", component, source, branch, branch)
	}
	wantServed(w, "three components", "app/cs 1", line("app", "One", "l10n/a"), "docs/cs 1", line("docs", "Two", "l10n/a"), line("docs", "Two", "l10n/b"), line("docs", "Two", "next"))
	// A component of another branch has a mirror of its own.
	w.Configure(repo.Path(), "next", map[string]catalog.ComponentSettings{"app": {SuggestionBranches: "*"}})
	w.Sync()
	wantServed(w, "from the branch next", "app/cs 1", line("app", "One", "l10n/a"), line("app", "One", "l10n/b"))
}

// TestSuggestionsOutliveDamage: a mirror whose other branches cannot be read is cloned
// again.
func TestSuggestionsOutliveDamage(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	on(t, repo, "l10n/a", "Eva <eva@example.org>", map[string]string{"po/cs.po": po("One", "Jeden")})
	w := suggesting(t, repo, catalog.ComponentSettings{SuggestionBranches: "l10n/*"})
	want := []string{"app/cs 1", `app/cs One: "Jeden" by Eva at 09:01 on l10n/a`}
	wantServed(w, "whole", want...)
	blob := gittest.RunGit(t, repo.Path(), "rev-parse", "l10n/a:po/cs.po")
	if n := removeObject(w, blob); n != 1 {
		t.Fatalf("%d objects removed", n)
	}
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": po("One", "Eins")}})
	w.Sync()
	wantServed(w, "cloned anew", want...)
	on(t, repo, "l10n/b", "Jan <jan@example.org>", map[string]string{"po/cs.po": po("One", "Jednou")})
	w.Sync()
	wantServed(w, "and goes on", append(want, `app/cs One: "Jednou" by Jan at 09:02 on l10n/b`)...)
}

// TestUnreachableBranches: if branches cannot be fetched or listed, the pull succeeds
// and the stored suggestions stay.
func TestUnreachableBranches(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	on(t, repo, "l10n/b", "Eva <eva@example.org>", map[string]string{"po/cs.po": po("One", "Jeden")})
	w := suggesting(t, repo, catalog.ComponentSettings{SuggestionBranches: "l10n/*"})
	want := []string{"app/cs 1", `app/cs One: "Jeden" by Eva at 09:01 on l10n/b`}
	wantServed(w, "whole", want...)
	place := func(name, id string) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(repo.Path(), filepath.FromSlash(name)), []byte(id+"\n"), 0o644))
	}
	good := repo.Tip("l10n/b")
	place("refs/heads/l10n/a", strings.Repeat("12", 20)) // a missing commit
	place("refs/heads/l10n/b", strings.Repeat("34", 20))
	w.Sync()
	wantServed(w, "broken branches", want...)
	place("refs/heads/l10n/b", good)
	on(t, repo, "l10n/c", "Jan <jan@example.org>", map[string]string{"po/cs.po": po("One", "Jednou")})
	w.Sync()
	wantServed(w, "one is broken", append(want, `app/cs One: "Jednou" by Jan at 09:01 on l10n/c`)...)
	place("refs/heads/l10n/b", repo.Head())
	repo.Commit(t, testrepos.Change{Files: map[string]string{"po/de.po": po("One", "Eins")}})
	must(t, os.Mkdir(filepath.Join(repo.Path(), "packed-refs"), 0o755)) // cannot be read
	w.Sync()
	wantServed(w, "no list", append(want, `app/cs One: "Jednou" by Jan at 09:01 on l10n/c`)...)
	if len(servedFiles(w, "app")) != 3 {
		t.Errorf("languages: %v", servedFiles(w, "app"))
	}
	must(t, os.Remove(filepath.Join(repo.Path(), "packed-refs")))
	w.Sync()
	wantServed(w, "and again", "app/cs 1", `app/cs One: "Jednou" by Jan at 09:01 on l10n/c`)
}

// removeObject damages the mirrors: it removes a loose object, and returns how many
// copies there were.
func removeObject(w *catalogtest.Puller, id string) (removed int) {
	w.TB.Helper()
	err := filepath.WalkDir(filepath.Join(w.Dir, "mirrors"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, filepath.Join(id[:2], id[2:])) {
			removed++
			err = os.Remove(path)
		}
		return err
	})
	must(w.TB, err)
	return removed
}
