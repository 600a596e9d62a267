package editing_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/catalogtest"
	"github.com/repoglot/repoglot/testrepos"
)

// po makes a file of msgids and msgstrs.
func po(pairs ...string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "\nmsgid %q\nmsgstr %q\n", pair[0], pair[1])
	}
	return b.String()
}

// app makes a store with one component of a repository with one commit.
func app(t *testing.T, s catalog.ComponentSettings, files map[string]string) (*catalogtest.Puller, *testrepos.Repo) {
	t.Helper()
	s.LanguageRegex = "^[^.]+$"
	repo := testrepos.Empty(t)
	repo.Commit(t, testrepos.Change{Files: files})
	w := catalogtest.NewPuller(t, repo.URL(), map[string]catalog.ComponentSettings{"app": s})
	w.Sync()
	return w, repo
}

// pullCommit makes a commit and pulls it.
func pullCommit(w *catalogtest.Puller, repo *testrepos.Repo, c testrepos.Change) {
	w.TB.Helper()
	repo.Commit(w.TB, c)
	w.Sync()
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// equal reports how a value (plus) differs from the wanted one (minus).
func equal(tb testing.TB, want, got any, what string, args ...any) {
	tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		tb.Errorf("%s:\n%.5000s", fmt.Sprintf(what, args...), diff)
	}
}

// entriesLeadToUnits checks that the entries, applied to texts by unit id, give
// the targets that are served.
func entriesLeadToUnits(w *catalogtest.Puller, texts map[int64]string) {
	w.TB.Helper()
	w.ApplyChanges(texts)
	equal(w.TB, w.Targets(), texts, "the entries do not lead to the units")
}

// wantEntries checks that the entries after one are those that begin as given.
func wantEntries(w *catalogtest.Puller, last int64, want ...string) {
	w.TB.Helper()
	text, _ := w.ChangesAfter(last)
	lines := slices.Collect(strings.Lines(text))
	if !slices.EqualFunc(lines, want, strings.HasPrefix) {
		w.TB.Errorf("entries, want %q:\n%s", want, text)
	}
}
