package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

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
