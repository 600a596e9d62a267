package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// pushTo returns a function that pushes a commit and returns its id.
func pushTo(t *testing.T, repo *testrepos.Repo) func(branch, author string, remove []string, files map[string]string, parents ...string) string {
	return func(branch, author string, remove []string, files map[string]string, parents ...string) string {
		return repo.Commit(t, testrepos.Change{
			Branch: branch, Files: files, Delete: remove, Author: author + " <" + author + "@example.org>", Parents: parents, Force: true,
		})
	}
}

// entriesExceptOf lists the entries of all commits except one: action, language,
// source and author.
func entriesExceptOf(w *catalogtest.Puller, commit string) (list []string) {
	w.EachChange(0, func(c *catalog.Change) {
		if c.Commit != commit {
			list = append(list, fmt.Sprintf("%d %s %s %s", c.Action, c.Language, c.Source, c.AuthorName))
		}
	})
	return list
}

// TestAttributionFollowsRenames: the translator of a file that another author
// moves afterwards, in the same merged branch, keeps the credit.
func TestAttributionFollowsRenames(t *testing.T) {
	repo := testrepos.Empty(t)
	push := pushTo(t, repo)
	old, done := po("A", "", "B", "be"), po("A", "ah", "B", "be", "C", "")
	base := push("main", "begin", nil, map[string]string{"po/pt-br.po": old, "po/de.po": old})
	ann := push("side", "ann", nil, map[string]string{"po/pt-br.po": done}, base)
	mover := push("side", "mover", []string{"po/pt-br.po"}, map[string]string{"po/pt_BR.po": done}, ann)
	push("main", "merger", []string{"po/pt-br.po"}, map[string]string{"po/pt_BR.po": done}, base, mover)
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}})
	equal(t, []string{"31 en C ann", "59 pt_BR A ann", "31 pt_BR C ann"}, entriesExceptOf(w, base), "entries")
}

// TestAttributionKeepsToTheOldName: before a rename the file is the one with
// the old name, even if another file has the new name there. The merge that
// drops that other file gets no credit for the texts that it took over.
func TestAttributionKeepsToTheOldName(t *testing.T) {
	repo := testrepos.Empty(t)
	push := pushTo(t, repo)
	old, done := po("A", "", "B", "be"), po("A", "ah", "B", "be")
	base := push("main", "begin", nil, map[string]string{"po/pt_BR.po": old, "po/de.po": old})
	ann := push("side", "ann", nil, map[string]string{"po/pt_BR.po": done, "po/pt-br.po": po("B", "bi")}, base)
	taken := push("side", "merger", nil, map[string]string{"po/pt_BR.po": done}, base, ann)
	mover := push("side", "mover", []string{"po/pt_BR.po"}, map[string]string{"po/pt-br.po": done}, taken)
	push("main", "main", []string{"po/pt_BR.po"}, map[string]string{"po/pt-br.po": done}, base, mover)
	w := synced(t, repo.URL(), map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}})
	equal(t, []string{"59 pt_BR A ann"}, entriesExceptOf(w, base), "entries")
}

// TestSourceStringIntroducer: a side branch adds a string, translates it,
// breaks the file and repairs it. The merge credits the commits that added and
// translated it.
func TestSourceStringIntroducer(t *testing.T) {
	w, repo := app(t, catalog.ComponentSettings{}, map[string]string{"po/cs.po": po("One", "Jedna")})
	_, last := w.ChangesAfter(0)
	commit := func(author, text string, parents ...string) {
		repo.Commit(t, testrepos.Change{Branch: "side", Parents: parents, Author: author + " <" + author + "@example.org>", Files: map[string]string{"po/cs.po": text}})
	}
	commit("Adder", po("One", "Jedna", "Two", ""), repo.Head())
	commit("Translator", po("One", "Jedna", "Two", "Dvě"))
	commit("Breaker", "<<<<<<<\n"+po("One", "Jedna", "Two", "Dvě"))
	commit("Repairer", po("One", "Jedna", "Two", "Dvě", "Three", ""))
	repo.Commit(t, testrepos.Change{Files: map[string]string{"README": "mainline"}})
	repo.Commit(t, testrepos.Change{Author: "Merger <m@example.org>", Merge: "side"})
	w.Sync()
	var got []string
	w.EachChange(last, func(c *catalog.Change) {
		got = append(got, fmt.Sprintf("%d %s %s %s", c.Action, c.Language, c.Source, c.AuthorName))
	})
	want := []string{"31 en Two Adder", "31 en Three Repairer", "31 cs Two Translator", "31 cs Three Repairer"}
	equal(t, want, got, "entries")
}

// TestSquashesEditsAndMoves replays and pulls a history with squash merges, an
// edited source string, and a language that moved.
func TestSquashesEditsAndMoves(t *testing.T) {
	repo := testrepos.Empty(t)
	day := func(n int) time.Time { return time.Date(2024, 3, n, 12, 0, 0, 0, time.UTC) }
	var hashes []string
	push := func(n int, message string, remove []string, files map[string]string) {
		hashes = append(hashes, repo.Commit(t, testrepos.Change{
			Branch: "main", Files: files, Delete: remove, Author: "Ann <ann@example.org>", Message: message, When: day(n), Force: true,
		}))
	}
	push(1, "Begin", nil, map[string]string{
		".mailmap":    "Robert Roe <bob@example.org>\n",
		"po/pt_BR.po": poHead + "msgid \"Open\"\nmsgstr \"Abrir\"\n\nmsgid \"Quit\"\nmsgstr \"\"\n",
	})
	push(2, "Squash (#7)\n\n* one\n\nco-authored-by: Bob <bob@example.org>\nCo-Authored-By: Cy <cy@example.org>\nCo-authored-by: Ann <ann@example.org>\nCo-authored-by: Cy <cy@example.org>\nCo-authored-by: <nobody>\n",
		nil, map[string]string{"po/pt_BR.po": poHead + "msgid \"Open\"\nmsgstr \"Abrir\"\n\nmsgid \"Quit\"\nmsgstr \"Sair\"\n"})
	push(3, "Edit a source string", nil, map[string]string{
		"po/pt_BR.po": poHead + "#, fuzzy\n#| msgid \"Open\"\nmsgid \"Open…\"\nmsgstr \"Abrir\"\n\nmsgid \"Quit\"\nmsgstr \"Sair\"\n\n#, fuzzy\n#| msgid \"Quit\"\nmsgid \"Quit all\"\nmsgstr \"Sair\"\n",
	})
	moved := poHead + "#, fuzzy\n#| msgid \"Open\"\nmsgid \"Open…\"\nmsgstr \"Abrir\"\n\nmsgid \"Quit\"\nmsgstr \"Terminar\"\n\n#, fuzzy\n#| msgid \"Quit\"\nmsgid \"Quit all\"\nmsgstr \"Sair\"\n"
	push(5, "Move", []string{"po/pt_BR.po"}, map[string]string{"po/pt-br.po": moved})
	push(9, "Remove", []string{"po/pt-br.po"}, map[string]string{"README": "none"})

	settings := map[string]catalog.ComponentSettings{"app": {History: catalog.History{Full: true}}}
	want := `51 
48 
31  Open
31  Quit
31 pt_BR Open
31 pt_BR Quit
59 pt_BR Quit co-authors Robert Roe, Cy
31  Open…
31  Quit all
63  Open
31 pt_BR Open… was Open
31 pt_BR Quit all
63 pt_BR Open
59 pt_BR Quit
25 
63  Quit
63  Open…
63  Quit all
`
	days := "2024-03-01 1/2, 2024-03-02 2/2, 2024-03-03 1/3, 2024-03-05 1/3, 2024-03-09 gone"
	for _, road := range []string{"replay", "pulls"} {
		t.Run(road, func(t *testing.T) {
			if road == "pulls" {
				repo.Branch(t, "main", hashes[0])
			}
			w := catalogtest.NewPuller(t, repo.URL(), settings)
			w.Clock = day(20)
			w.Sync()
			for i := range hashes {
				if road == "pulls" {
					w.Clock = day(map[int]int{0: 1, 1: 2, 2: 3, 3: 5, 4: 9}[i])
					repo.Branch(t, "main", hashes[i])
					w.Sync()
				}
			}
			var b strings.Builder
			ids := map[string]int64{}
			w.EachChange(0, func(c *catalog.Change) {
				language := c.Language
				if language == "en" {
					language = ""
				}
				line := strings.TrimRight(fmt.Sprintf("%d %s %s", c.Action, language, c.Source), " ")
				if was := c.Event[catalog.EventPreviousSource]; was != "" {
					line += " was " + was
				}
				if len(c.CoAuthors) > 0 {
					line += " co-authors " + strings.Join(c.CoAuthors, ", ")
				}
				b.WriteString(line + "\n")
				key := c.Language + " " + c.Source
				if id, ok := ids[key]; ok && id != c.UnitID && c.UnitID != 0 {
					t.Errorf("%s: unit %d, then %d", key, id, c.UnitID)
				}
				ids[key] = c.UnitID
			})
			equal(t, strings.ReplaceAll(want, " \n", "\n"), b.String(), "entries")
			equal(t, days, statDays(w, "pt_BR"), "days")
		})
	}
}

// statDays renders the statistics of a language over time: translated of all
// units.
func statDays(w *catalogtest.Puller, language string) string {
	var list []string
	w.EachComponent(func(ctx context.Context, s *store.Snapshot, c *store.ComponentRow) error {
		translations, err := s.AllTranslations(ctx, c.ID)
		if err != nil {
			return err
		}
		for _, tr := range translations {
			if tr.Language != language {
				continue
			}
			days, err := s.StatDays(ctx, tr.ID)
			if err != nil {
				return err
			}
			for _, d := range days {
				text := fmt.Sprintf("%s %d/%d", d.Day.Format(time.DateOnly), d.Stats.Translated.Units, d.Stats.Total.Units)
				if d.Removed {
					text = d.Day.Format(time.DateOnly) + " gone"
				}
				list = append(list, text)
			}
		}
		return nil
	})
	return strings.Join(list, ", ")
}
