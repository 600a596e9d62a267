package ingest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/catalog/store"
	"github.com/repoglot/repoglot/testrepos"
)

// largeFile is a PO file that is stored in pieces.
func largeFile(t *testing.T) (repo *testrepos.Repo, text string) {
	t.Helper()
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"\"\n\"Content-Type: text/plain; charset=UTF-8\\n\"\n\"Plural-Forms: nplurals=3; plural=(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;\\n\"\n")
	for i := range 2200 {
		fmt.Fprintf(&b, "\n#. A note that makes the file longer than what is stored whole, number %d\n#: src/file.c:%d\nmsgid \"Source %d.\"\n", i, i*3, i)
		switch i % 5 {
		case 0:
			fmt.Fprintf(&b, "msgid_plural \"Sources %d.\"\nmsgstr[0] \"Jeden %d.\"\nmsgstr[1] \"Dva %d.\"\n", i, i, i) // a form is missing
		case 1:
			b.WriteString("msgstr \"\"\n")
		default:
			fmt.Fprintf(&b, "msgstr \"Text %d.\"\n", i)
		}
	}
	text = b.String()
	return repoWith(t, map[string]string{"po/cs.po": text, "po/de.po": po("Source 3.", "Quelle 3.", "Other", "")}), text
}

// TestEditOfLargeFile: a pull of one string reads that string only, and finds what
// reading all of them would find.
func TestEditOfLargeFile(t *testing.T) {
	repo, text := largeFile(t)
	w := synced(t, repo.Path(), map[string]catalog.ComponentSettings{"app": {}})
	// A pull that compared the whole file would take this string for changed.
	w.Execute(`UPDATE units SET text_print = text_print + 1 WHERE target = 'Text 2.'`)
	commit := func(old, next string, want int64) {
		t.Helper()
		if strings.Count(text, old) != 1 {
			t.Fatalf("%d of %q", strings.Count(text, old), old)
		}
		text = strings.Replace(text, old, next, 1)
		if r := pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": text}}); r.Changes != want {
			t.Errorf("%q: %d entries, want %d", next, r.Changes, want)
		}
	}
	_, last := w.ChangesAfter(0)
	commit("Text 1003.", "Jiný 1003", 1)
	commit("msgid \"Source 1001.\"\nmsgstr \"\"", "msgid \"Source 1001.\"\nmsgstr \"Nový\"", 1)
	commit("Jeden 1500.", "První 1500.", 1)
	commit("#: src/file.c:3009\n", "#: src/file.c:3009\n#, fuzzy\n#| msgid \"Before\"\n", 1)
	commit("#| msgid \"Before\"\n", "#| msgid \"Long before\"\n", 0)
	commit("Text 2199.", "Poslední", 1)
	if got := strings.Count(w.ChangesText(last), "\n"); got < 5 {
		t.Errorf("%d lines of entries", got)
	}
	commit("#: src/file.c:6012\n", "#: src/file.c:6013\n", 1) // all are compared: the spoilt one is found
	w.Verify()
}

// TestEditsLikeImport: after any edits of a large file everything is as an import of its
// last version makes it.
func TestEditsLikeImport(t *testing.T) {
	oneAtATime(t)
	repo, text := largeFile(t)
	settings := withoutAgeCheck(map[string]catalog.ComponentSettings{"app": {}})
	w := synced(t, repo.Path(), settings)
	texts := w.Targets()
	random := rand.New(rand.NewPCG(1, 2))
	for range 25 {
		lines := strings.SplitAfter(text, "\n")
		for range 1 + random.IntN(3) {
			at := 6 + random.IntN(len(lines)-7)
			switch line := lines[at]; {
			case random.IntN(12) == 0 && line == "\n": // a new entry
				lines[at] = fmt.Sprintf("\nmsgid \"New %d\"\nmsgstr \"x\"\n\n", random.Int())
			case random.IntN(12) == 0 && strings.HasPrefix(line, "#: "):
				lines[at] = "#: elsewhere.c:1\n"
			case strings.HasPrefix(line, "#: "):
				lines[at] += "#, fuzzy\n"
			case strings.HasPrefix(line, "msgstr"):
				keyword, _, _ := strings.Cut(line, " ")
				lines[at] = fmt.Sprintf("%s \"Edit %d\"\n", keyword, random.Int())
			}
		}
		text = strings.Join(lines, "")
		pullCommit(w, repo, testrepos.Change{Files: map[string]string{"po/cs.po": text}})
	}
	entriesLeadToUnits(w, texts)
	w.Verify()
	fresh := catalogtest.NewPuller(t, repo.Path(), settings)
	fresh.Sync()
	equal(t, fresh.ServedUnits(), w.ServedUnits(), "editing and importing differ (-import +edits)")
	must(t, w.DB.Read(t.Context(), func(ctx context.Context, s *store.Snapshot) error {
		tr, err := s.Translation(ctx, "demo", "app", "cs")
		if err != nil {
			return err
		}
		f, err := s.File(ctx, tr.ID)
		if string(f.Data) != text {
			t.Errorf("the stored file has %d bytes, want %d", len(f.Data), len(text))
		}
		return err
	}))
}
