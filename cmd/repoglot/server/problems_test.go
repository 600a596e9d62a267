package server

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest"
	"github.com/repoglot/repoglot/catalog/ingest/checkup"
)

// TestProblems: a new problem is returned once, and forgotten only by a pull that
// read the files.
func TestProblems(t *testing.T) {
	t.Parallel()
	p := problems{of: map[string][]string{}}
	for i, step := range []struct{ found, fresh, list []string }{
		{nil, nil, []string{}},
		{[]string{"a", "b"}, []string{"a", "b"}, []string{"a", "b"}},
		{nil, nil, []string{"a", "b"}},
		{[]string{"b", "c"}, []string{"c"}, []string{"b", "c"}},
		{[]string{}, []string{}, []string{}},
		{[]string{"a"}, []string{"a"}, []string{"a"}},
	} {
		fresh := p.note(&ingest.ComponentReport{Project: "p", Slug: "c", Problems: step.found})
		if diff := cmp.Diff(step.fresh, fresh); diff != "" {
			t.Errorf("step %d: new (-want +got):\n%s", i, diff)
		}
		if diff := cmp.Diff(step.list, p.list("p", "c")); diff != "" {
			t.Errorf("step %d: all (-want +got):\n%s", i, diff)
		}
	}
	many := make([]string, 150)
	for i := range many {
		many[i] = fmt.Sprintf("%03d%s", i, strings.Repeat("ä", 1000))
	}
	p.note(&ingest.ComponentReport{Project: "p", Slug: "many", Problems: many})
	list := p.list("p", "many")
	if len(list) != 101 || list[100] != "and 50 more files" || len(list[0]) > 1010 || !utf8.ValidString(list[0]) {
		t.Errorf("%d problems, the first has %d bytes, the last is %s", len(list), len(list[0]), list[len(list)-1])
	}
	if n := len(p.list("p", "other")); n != 0 {
		t.Errorf("another component has %d problems", n)
	}
}

// TestNewFailureLines: lines name components, quote the strings and count the
// failures left out.
func TestNewFailureLines(t *testing.T) {
	report := ingest.Report{
		Components: []ingest.ComponentReport{{ID: 1, Project: "demo", Slug: "app"}},
		NewFailures: checkup.NewFailures{Total: 5, List: []checkup.NewFailure{
			{UnitID: 268435457, ComponentID: 1, Language: "de", Check: checks.CheckGlossary, Source: "It\x1b[1m works."},
			{UnitID: 536870913, ComponentID: 2, Language: "cs", Check: checks.Reused, Source: "%d file\x1e\x1e%d files"},
			{UnitID: 536870914, ComponentID: 2, Language: "cs", Check: checks.Inconsistent, Source: "Shut"},
		}},
	}
	want := `demo/app de: check_glossary: "It\x1b[1m works." (unit 268435457)` + "\n" +
		`component 2 cs: reused: "%d file / %d files" (unit 536870913)` + "\nand 3 more"
	if got := strings.Join(NewFailureLines(&report, 2), "\n"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := NewFailureLines(&ingest.Report{}, maxLogged); got != nil {
		t.Errorf("%q", got)
	}
}
