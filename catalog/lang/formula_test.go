package lang

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leonelquinteros/gotext/plurals"

	"github.com/repoglot/repoglot/poparse/plural"
)

// This test compares with gotext's evaluator, except where that is wrong: for Breton it
// ends a condition at the wrong parenthesis, so n=13 gets form 2 and not 4 as in C.
func TestEvalAgreesWithGotext(t *testing.T) {
	const breton = "br"
	seen := map[string]bool{}
	for _, l := range newTable(t).langs {
		formula := l.Plural.Formula
		if seen[formula] || l.Code == breton {
			continue
		}
		seen[formula] = true
		ours, err := plural.Compile(formula)
		if err != nil {
			t.Errorf("%s: %v", l.Code, err)
			continue
		}
		theirs, err := plurals.Compile(formula)
		if err != nil {
			t.Errorf("%s: gotext: %v", l.Code, err)
			continue
		}
		for i := range 11_000 {
			n := i
			if i >= 10_000 { // kw and br look at 10^5 and 10^6
				n = (i - 9_999) * 20_000
			}
			if got, want := ours.Eval(n), theirs.Eval(uint32(n)); got != want {
				t.Errorf("%s: %q for n=%d: %d, gotext %d", l.Code, formula, n, got, want)
				break
			}
		}
	}
	br, _ := newTable(t).ByCode(breton)
	f, err := plural.Compile(br.Plural.Formula)
	must(t, err)
	for n, want := range map[int]int{1: 0, 11: 4, 2: 1, 12: 4, 3: 2, 13: 4, 9: 2, 23: 2, 71: 4, 1_000_000: 3, 0: 4} {
		if got := f.Eval(n); got != want {
			t.Errorf("Breton for n=%d: %d, want %d", n, got, want)
		}
	}
}

// TestGotextIsWrong shows why we evaluate formulas ourselves (docs/design.md). If it
// fails, gotext has been corrected, and the reason is gone.
func TestGotextIsWrong(t *testing.T) {
	br, _ := newTable(t).ByCode("br")
	theirs, err := plurals.Compile(br.Plural.Formula)
	must(t, err)
	if got := theirs.Eval(13); got != 2 {
		t.Errorf("Breton for n=13: %d", got)
	}
	zero, err := plurals.Compile("n%0==0")
	must(t, err)
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), "divide by zero") {
			t.Errorf("n%%0==0: %v", r)
		}
	}()
	t.Errorf("n%%0==0 for n=1: %d", zero.Eval(1))
}
