package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest"
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
	if n := len(p.list("p", "other")); n != 0 {
		t.Errorf("another component has %d problems", n)
	}
}

// TestNewFailureLines: lines name components, quote the strings and count the
// failures left out.
func TestNewFailureLines(t *testing.T) {
	report := ingest.Report{
		Components: []ingest.ComponentReport{{ID: 1, Project: "demo", Slug: "app"}},
		NewFailures: ingest.NewFailures{Total: 5, List: []ingest.NewFailure{
			{UnitID: 268435457, ComponentID: 1, Language: "de", Check: checks.EndStop, Source: "It\x1b[1m works."},
			{UnitID: 536870913, ComponentID: 2, Language: "cs", Check: checks.Reused, Source: "Open"},
			{UnitID: 536870914, ComponentID: 2, Language: "cs", Check: checks.Same, Source: "Shut"},
		}},
	}
	want := `demo/app de: end_stop: "It\x1b[1m works." (unit 268435457)` + "\n" +
		`component 2 cs: reused: "Open" (unit 536870913)` + "\nand 3 more"
	if got := strings.Join(newFailureLines(&report, 2), "\n"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := newFailureLines(&ingest.Report{}, maxLogged); got != nil {
		t.Errorf("%q", got)
	}
}
