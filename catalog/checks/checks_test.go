package checks_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/catalog/checks"
	"github.com/repoglot/repoglot/catalog/lang"
)

var (
	english = lang.Plural{Number: 2, Formula: "n != 1"}
	czech   = lang.Plural{Number: 3, Formula: "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"}
)

func set(code string, plural lang.Plural) *checks.Set {
	return checks.New(checks.Options{Language: code, Plural: plural, SourcePlural: english})
}

func names(m checks.Mask) string {
	var all []string
	for id := range m.All() {
		all = append(all, id.String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestSpans(t *testing.T) {
	u := &checks.Unit{Sources: []string{"größer."}, Targets: []string{"größer  é"}, State: catalog.StateTranslated}
	s := set("cs", english)
	for id, want := range map[checks.ID]checks.Failure{
		checks.EndStop:     {Source: checks.Span{From: 6, To: 7}, Target: checks.Span{From: 8, To: 9}},
		checks.DoubleSpace: {Target: checks.Span{From: 6, To: 8}},
	} {
		if got := s.Explain(u, id); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
}

// TestStates: facts §11.1.
func TestStates(t *testing.T) {
	for state, want := range map[catalog.State]string{
		catalog.StateEmpty: "", catalog.StateReadOnly: "", catalog.StateFuzzy: "end_stop", catalog.StateTranslated: "end_stop",
	} {
		u := &checks.Unit{Sources: []string{"It works."}, Targets: []string{"x"}, State: state}
		if got := names(set("de", english).Run(u)); got != want {
			t.Errorf("state %d: %q, want %q", state, got, want)
		}
	}
}

func TestTable(t *testing.T) {
	for i, c := range checks.All() {
		id, ok := checks.ByName(c.Name)
		if !ok || id != checks.ID(i) || c.ID != id || id.String() != c.Name || c.Title == "" || c.Description == "" {
			t.Errorf("check %d: %+v", i, c)
		}
	}
	if _, ok := checks.ByName("nothing"); ok {
		t.Error("a check that is none was found")
	}
	// Numbers are stored: these may never change.
	for id, name := range map[checks.ID]string{0: "begin_newline", 5: "end_stop", 18: "duplicate", 22: "c_format", 35: "inconsistent", 39: "long_untranslated"} {
		if id.String() != name {
			t.Errorf("check %d is %s, was %s", id, id, name)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	s := set("cs", czech)
	u := &checks.Unit{
		Sources: []string{"one file.", "%d files."}, Targets: []string{"jeden soubor.", "%d soubory.", "%d souborů."},
		Flags: "c-format", State: catalog.StateTranslated,
	}
	if got := s.Run(u); !got.IsZero() {
		t.Fatal(names(got))
	}
	if n := testing.AllocsPerRun(200, func() { s.Run(u) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}
