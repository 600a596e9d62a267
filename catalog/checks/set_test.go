package checks_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
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
		number("end_stop"):     {Source: checks.Span{From: 6, To: 7}, Target: checks.Span{From: 8, To: 9}},
		number("double_space"): {Target: checks.Span{From: 6, To: 8}},
	} {
		if got := s.Explain(u, id); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Errorf("%s: %+v, want %+v", id, got, want)
		}
	}
}

// TestStates: empty and read-only units are not checked.
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

func TestNoAllocation(t *testing.T) {
	s := set("cs", czech)
	u := &checks.Unit{
		Sources: []string{"one file.", "many files."}, Targets: []string{"jeden soubor.", "mnohé soubory.", "mnoho souborů."},
		Flags: "c-format", State: catalog.StateTranslated,
	}
	if got := s.Run(u); !got.IsZero() {
		t.Fatal(names(got))
	}
	if n := testing.AllocsPerRun(200, func() { s.Run(u) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestPluralPairing: which source form a target form is compared with.
func TestPluralPairing(t *testing.T) {
	for _, c := range []struct {
		language string
		sources  string // with "|" between forms; a full stop is looked for
		targets  string
		want     []int // forms that fail
	}{
		{"en_GB", "It works.|They work", "It works.|They work", nil},
		{"en_GB", "It works.|They work", "It works|They work.", []int{0, 1}},
		{"cs", "It works.|They work", "Jde.|Jdou|Jde", nil}, // the form of 1 with the source's
		{"cs", "It works.|They work", "Jde|Jdou.|Jde", []int{0, 1}},
		{"fr", "It works.|They work", "Marche.|Marchent", []int{0}}, // 0 and 1: the last form
		{"ja", "It works.|They work", "動く", nil},
		{"ja", "It works.|They work", "動く。", []int{0}},
		{"ar", "It works.|They work", "لا يعمل|يعمل.|يعملان|يعملون|يعملون|يعملون", nil},
		{"ar", "It works.|They work", "لا يعمل.|يعمل|يعملان.|يعملون|يعملون|يعملون.", []int{0, 1, 2, 5}},
		{"cs", "It works.|They work", "Jde.|Jdou", []int{0}},          // not the rule's number of forms
		{"cs", "It works.", "Jde.|Jdou.|Jde", []int{2}},               // the source has one form
		{"cs", "It works.|They|They work", "Jde|Jdou.|Jde", []int{1}}, // or more than its language
	} {
		s := set(c.language, english)
		if p, ok := plurals[c.language]; ok {
			s = set(c.language, p)
		}
		u := &checks.Unit{Sources: strings.Split(c.sources, "|"), Targets: strings.Split(c.targets, "|"), State: catalog.StateTranslated}
		var got []int
		for _, f := range s.Explain(u, number("end_stop")) {
			got = append(got, f.Form)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %q → %q: forms %v, want %v", c.language, c.sources, c.targets, got, c.want)
		}
	}
}

// TestManyForms: no number of forms makes a check panic or take quadratic time.
func TestManyForms(t *testing.T) {
	s := set("cs", czech)
	u := &checks.Unit{
		Sources: []string{"%s file", "%d files."}, Targets: slices.Repeat([]string{"%d <b>x"}, 100_000),
		Flags: allFlags, State: catalog.StateTranslated,
	}
	failed := s.Run(u)
	if !failed.Has(number("end_stop")) || !failed.Has(number("same-plurals")) {
		t.Error(names(failed))
	}
	if got := s.Explain(u, number("end_stop")); len(got) != len(u.Targets) || got[99_999].Form != 99_999 {
		t.Errorf("%d failures", len(got))
	}
	u.Sources, u.Targets = u.Targets, u.Sources
	s.Run(u)
	u.IsSource = true
	s.Run(u)
}

// TestConcurrentFlags uses more flags than a set remembers, from several goroutines.
func TestConcurrentFlags(t *testing.T) {
	s := set("de", english)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for i := range 1200 {
				u := &checks.Unit{
					Sources: []string{"a b c"}, Targets: []string{"abcd"}, State: catalog.StateTranslated,
					Flags: fmt.Sprintf(`max-length:%d, regex:r"^[a-d]{%d}$"`, i%8, i%700),
				}
				failed := s.Run(u)
				if failed.Has(checks.MaxLength) != (i%8 < 4) || failed.Has(checks.Regex) != (i%700 != 4) {
					t.Errorf("%s: %s", u.Flags, names(failed))
					return
				}
			}
		})
	}
	group.Wait()
}
