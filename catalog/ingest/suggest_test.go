package ingest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// servedSuggestions returns the served suggestions, and their numbers by translation.
func servedSuggestions(w *catalogtest.Puller) string {
	w.TB.Helper()
	var lines []string
	counts := map[string]int64{}
	var units []catalog.Unit
	var codes []string
	w.EachUnit(func(c *catalog.Component, t *catalog.Translation, u *catalog.Unit) {
		counts[c.Slug+"/"+t.Language] = t.Stats.Suggestions
		units, codes = append(units, *u), append(codes, c.Slug+"/"+t.Language)
	})
	w.Read(func(ctx context.Context, s *store.Snapshot) error {
		for i := range units {
			list, err := s.Suggestions(ctx, units[i].ID)
			if err != nil {
				return err
			}
			if units[i].HasSuggestion != (len(list) > 0) {
				w.TB.Errorf("unit %d: has_suggestion %v, %d suggestions", units[i].ID, units[i].HasSuggestion, len(list))
			}
			for _, n := range list {
				lines = append(lines, fmt.Sprintf("%s %s: %q by %s at %s on %s", codes[i], units[i].Source, n.Target, n.AuthorName, n.At.Format("15:04"), n.Branch))
			}
		}
		return nil
	})
	for code, n := range counts {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%s %d", code, n))
		}
	}
	slices.Sort(lines)
	w.Verify()
	return strings.Join(lines, "\n")
}

// suggestionWorld has a component with suggestions from l10n/*.
func suggestionWorld(t *testing.T, repo *testrepos.Repo) *catalogtest.Puller {
	return synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {SuggestionBranches: "l10n/*", SuggestionLimit: 3}})
}

// wantSuggestions compares the suggestions of a store, and of a fresh import.
func wantSuggestions(w *catalogtest.Puller, repo *testrepos.Repo, what string, lines ...string) {
	w.TB.Helper()
	want := strings.Join(lines, "\n")
	equal(w.TB, want, servedSuggestions(w), "%s", what)
	fresh := synced(w.TB, repo.Path(), map[string]catalog.ComponentSettings{"app": {SuggestionBranches: "l10n/*", SuggestionLimit: 3}})
	equal(w.TB, want, servedSuggestions(fresh), "%s, imported anew", what)
}

// TestSuggestions follows branches through everything that can happen to them.
func TestSuggestions(t *testing.T) {
	file := func(pairs ...string) map[string]string { return map[string]string{"po/cs.po": po(pairs...)} }
	repo := repoWith(t, file("One", "Jedna", "Two", "Dvě", "Three", ""))
	w := suggestionWorld(t, repo)
	wantSuggestions(w, repo, "no branch")
	before, last := w.ChangesAfter(0)
	_ = before
	generation := w.Generation()
	first := repo.Head()
	repo.Commit(t, testrepos.Change{Branch: "l10n/cs", Parents: []string{first}, Author: "Eva <eva@example.org>", Files: file("One", "Jeden", "Two", "Dvě", "Three", "")})
	repo.Commit(t, testrepos.Change{Branch: "l10n/cs", Author: "Jan <jan@example.org>", Files: file("One", "Jeden", "Two", "Dvě", "Three", "Tři", "Four", "Čtyři")})
	pullCommit(w, repo, testrepos.Change{Branch: "other", Parents: []string{first}, Files: file("One", "X", "Two", "Dvě", "Three", "")})
	both := []string{"app/cs 2", `app/cs One: "Jeden" by Eva at 09:01 on l10n/cs`, `app/cs Three: "Tři" by Jan at 09:02 on l10n/cs`}
	wantSuggestions(w, repo, "a new branch; a string that the main branch lacks is no suggestion", both...)
	if w.Generation() == generation {
		t.Error("the generation is the same: answers would be kept")
	}
	generation = w.Generation()
	if w.Sync(); w.Generation() != generation {
		t.Error("a pull that finds nothing new made a generation")
	}
	wantEntries(w, last)

	// The main branch continues: texts that the branch did not introduce are no suggestions.
	pullCommit(w, repo, testrepos.Change{Author: "Ada <ada@example.org>", Files: file("One", "Jedna", "Two", "Dvojka", "Three", "")})
	wantSuggestions(w, repo, "the main branch moved", both...)
	pullCommit(w, repo, testrepos.Change{Branch: "l10n/b", Parents: []string{first}, Author: "Bob <bob@example.org>", Files: file("One", "Jeden", "Two", "", "Three", "")})
	wantSuggestions(w, repo, "the same text on two branches; an empty one is no suggestion", "app/cs 2",
		`app/cs One: "Jeden" by Bob at 09:01 on l10n/b`, `app/cs One: "Jeden" by Eva at 09:01 on l10n/cs`, `app/cs Three: "Tři" by Jan at 09:02 on l10n/cs`)
	repo.Branch(t, "l10n/b", "")
	w.Sync()
	wantSuggestions(w, repo, "a deleted branch", both...)

	// A force push, to a version with a fuzzy and a broken file.
	pullCommit(w, repo, testrepos.Change{
		Branch: "l10n/cs", Parents: []string{first}, Force: true, Author: "Eva <eva@example.org>",
		Files: map[string]string{"po/cs.po": strings.Replace(po("One", "Jednou", "Two", "Dvě", "Three", "Trojka"), "msgid \"One\"", "#, fuzzy\nmsgid \"One\"", 1)},
	})
	wantSuggestions(w, repo, "a force push; a fuzzy string is no suggestion", "app/cs 1", `app/cs Three: "Trojka" by Eva at 09:01 on l10n/cs`)
	report := pullCommit(w, repo, testrepos.Change{Branch: "l10n/cs", Files: map[string]string{"po/cs.po": "msgid broken\n"}})
	if list := report.Components[0].Problems; len(list) != 1 || !strings.HasPrefix(list[0], "l10n/cs:po/cs.po:1:") {
		t.Errorf("problems %q, want one of the file on the branch", list)
	}
	wantSuggestions(w, repo, "a broken file")
	if list := w.Sync().Components[0].Problems; len(list) != 1 {
		t.Errorf("problems of the next pull: %q", list)
	}
	repo.Commit(t, testrepos.Change{Branch: "l10n/cs", Author: "Eva <eva@example.org>", Files: file("One", "Jedna", "Two", "Dvě", "Three", "Tři")})
	if list := w.Sync().Components[0].Problems; len(list) != 0 {
		t.Errorf("problems: %q", list)
	}
	wantSuggestions(w, repo, "mended", "app/cs 1", `app/cs Three: "Tři" by Eva at 09:03 on l10n/cs`)

	// Taken over by hand, then merged, then changed: merged texts are no suggestions.
	pullCommit(w, repo, testrepos.Change{Files: file("One", "Jedna", "Two", "Dvojka", "Three", "Tři")})
	wantSuggestions(w, repo, "taken over")
	repo.Commit(t, testrepos.Change{Merge: "l10n/cs", Files: file("One", "Jedna", "Two", "Dvojka", "Three", "Tři")})
	pullCommit(w, repo, testrepos.Change{Files: file("One", "Jedna", "Two", "Dvojka", "Three", "Trojka")})
	wantSuggestions(w, repo, "merged, and changed after that")
}

// TestSuggestionsSwitchedOff: without the setting suggestions are removed.
func TestSuggestionsSwitchedOff(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna")})
	for i, branch := range []string{"l10n/a", "l10n/b/c", "l10n/d", "l10n/e"} {
		repo.Commit(t, testrepos.Change{Branch: branch, Parents: []string{repo.Head()}, Files: map[string]string{"po/cs.po": po("One", fmt.Sprint("Jeden ", i))}})
	}
	w := suggestionWorld(t, repo)
	got := servedSuggestions(w)
	if strings.Count(got, "\n") != 3 || strings.Contains(got, "l10n/e") {
		t.Errorf("suggestions of three branches at most:\n%s", got)
	}
	w.Open() // a new process
	w.Configure(repo.Path(), "", map[string]catalog.ComponentSettings{"app": {}})
	w.Sync()
	equal(t, "", servedSuggestions(w), "after they were switched off")
}

// TestSuggestionsMergedInOneStep: the step that takes over a suggestion's text removes
// the suggestion, before the branches are read again.
func TestSuggestionsMergedInOneStep(t *testing.T) {
	repo := repoWith(t, map[string]string{"po/cs.po": po("One", "Jedna"), "po/de.po": po("One", "Eins")})
	repo.Commit(t, testrepos.Change{Branch: "l10n/x", Parents: []string{repo.Head()}, Files: map[string]string{"po/cs.po": po("One", "Jeden"), "po/de.po": po("One", "Ein")}})
	w := suggestionWorld(t, repo)
	if got := servedSuggestions(w); strings.Count(got, "on l10n/x") != 2 {
		t.Fatalf("suggestions:\n%s", got)
	}
	w.Configure(repo.Path(), "", map[string]catalog.ComponentSettings{"app": {SuggestionBranches: "[", SuggestionLimit: 3}}) // the branches are not read
	pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": po("One", "Jeden")}, Delete: []string{"po/de.po"}})
	equal(t, "", servedSuggestions(w), "suggestions")
}
