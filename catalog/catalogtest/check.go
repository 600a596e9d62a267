package catalogtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/testrepos"
)

// PO makes a file of pairs of msgid and msgstr.
func PO(pairs ...string) string {
	var b strings.Builder
	b.WriteString("msgid \"\"\nmsgstr \"Content-Type: text/plain; charset=UTF-8\\n\"\n")
	for pair := range slices.Chunk(pairs, 2) {
		fmt.Fprintf(&b, "\nmsgid %q\nmsgstr %q\n", pair[0], pair[1])
	}
	return b.String()
}

// Equal reports how a value (plus) differs from the wanted one (minus), and whether it does
// not. what and args name the value.
func Equal(tb testing.TB, want, got any, what string, args ...any) bool {
	tb.Helper()
	diff := cmp.Diff(want, got)
	if diff != "" {
		tb.Errorf("%s:\n%.5000s", fmt.Sprintf(what, args...), diff)
	}
	return diff == ""
}

// Commit makes a commit in the repository of p and pulls it.
func (p *Puller) Commit(repo *testrepos.Repo, c testrepos.Change) ingest.Report {
	p.TB.Helper()
	repo.Commit(p.TB, c)
	return p.Sync()
}

// WantEntries checks that the entries after one are those that begin as given.
func (p *Puller) WantEntries(last int64, want ...string) {
	p.TB.Helper()
	text, _ := p.ChangesAfter(last)
	if !slices.EqualFunc(slices.Collect(strings.Lines(text)), want, strings.HasPrefix) {
		p.TB.Errorf("entries, want %q:\n%s", want, text)
	}
}

// EntriesLeadToUnits checks that the entries, applied to texts by unit id, give the targets
// that are served.
func (p *Puller) EntriesLeadToUnits(texts map[int64]string) {
	p.TB.Helper()
	p.ApplyChanges(texts)
	Equal(p.TB, p.Targets(), texts, "the entries do not lead to the units")
}
