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
	execute(w.Store, `UPDATE units SET text_print = text_print + 1 WHERE target = 'Text 2.'`)
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
	if got := strings.Count(changesText(w, last), "\n"); got < 5 {
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
	equal(t, servedUnits(fresh), servedUnits(w), "editing and importing differ (-import +edits)")
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

// TestEditsOfLargeFile: pulls that read some strings of a file serve, decide about edits and
// record what pulls of the whole file do, when the strings have edits and texts that were
// sent: the same text arrives, another one, that of before.
func TestEditsOfLargeFile(t *testing.T) {
	if testing.Short() {
		t.Skip("slow: it reads a large file for each commit")
	}
	repo, text := largeFile(t)
	settings := map[string]catalog.ComponentSettings{"app": {SourceLanguage: "en", Edits: catalog.Edits{Mode: catalog.PushDirect}}}
	parts, whole := synced(t, repo.Path(), settings), synced(t, repo.Path(), settings)
	execute(parts.Store, `UPDATE units SET text_print = text_print + 1 WHERE target = 'Text 2.'`) // as in TestEditOfLargeFile
	seeds := rand.New(rand.NewPCG(7, 23))
	now := map[int]string{}
	for i := range 2200 {
		if now[i] = ""; i%5 > 1 {
			now[i] = fmt.Sprintf("Text %d.", i)
		}
	}
	reached := map[string]int{}
	for n := range 60 {
		i := 5*seeds.IntN(12) + 1002 + seeds.IntN(3) // some strings next to each other
		edited := fmt.Sprintf("Edit %d", seeds.IntN(3))
		if seeds.IntN(3) > 0 {
			for _, w := range []*catalogtest.Puller{parts, whole} {
				must(t, w.Write(fmt.Sprintf("Source %d.", i), catalog.StateTranslated, edited))
			}
		}
		if seeds.IntN(3) == 0 { // as if it had been pushed
			for _, w := range []*catalogtest.Puller{parts, whole} {
				execute(w.Store, `INSERT INTO sent (unit_id, edit_id, n, component_id, translation_id, target, state, repo, branch, at_commit, next_commit, left_at)
					SELECT e.unit_id, 0, `+fmt.Sprint(100+n)+`, 1, e.translation_id, e.target, e.state, 'r', '', 'c', '', 0 FROM edits e WHERE e.status = 'pending'`)
			}
		}
		next := []string{edited, now[i] + "x", "Theirs", ""}[seeds.IntN(4)]
		if next == now[i] {
			continue
		}
		old := fmt.Sprintf("msgid \"Source %d.\"\nmsgstr %q\n", i, now[i])
		if strings.Count(text, old) != 1 {
			t.Fatalf("%d of %q", strings.Count(text, old), old)
		}
		text = strings.Replace(text, old, fmt.Sprintf("msgid \"Source %d.\"\nmsgstr %q\n", i, next), 1)
		now[i] = next
		repo.Commit(t, testrepos.Change{Files: map[string]string{"po/cs.po": text}})
		execute(whole.Store, `UPDATE files SET blob = '' WHERE translation_id IN (SELECT id FROM translations WHERE language = 'cs')`) // so that nothing can be compared with it
		whole.Sync()
		parts.Sync()
		equal(t, whole.Journal(), parts.Journal(), "edits after commit %d (-whole +parts)", n)
		for _, status := range []string{"pending", "flushed", "conflict"} {
			reached[status] += strings.Count(parts.Journal(), status)
		}
	}
	execute(parts.Store, `UPDATE units SET text_print = text_print - 1 WHERE target = 'Text 2.'`)
	equal(t, servedUnits(whole), servedUnits(parts), "served (-whole +parts)")
	equal(t, changesText(whole, 0), changesText(parts, 0), "entries (-whole +parts)")
	for _, status := range []string{"pending", "flushed", "conflict"} {
		if reached[status] == 0 {
			t.Errorf("no edit was %s: %v", status, reached)
		}
	}
}
