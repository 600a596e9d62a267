package main

import (
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/ingest"
)

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
