package lang

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/leonelquinteros/gotext/plurals"
)

func TestEval(t *testing.T) {
	tests := []struct {
		formula string
		n, want int
	}{
		{"0", 5, 0},
		{"n", 7, 7},
		{"n != 1", 1, 0},
		{"n != 1;", 2, 1},
		{" ( n\t!=\n1 ) ", 2, 1},
		{"n==1 ? 0 : n==2 ? 1 : 2", 1, 0},
		{"n==1 ? 0 : n==2 ? 1 : 2", 2, 1},
		{"n==1 ? 0 : n==2 ? 1 : 2", 3, 2},
		{"n<3 ? n<2 ? 0 : 1 : 2", 2, 1}, // a choice within the first branch
		{"n<3 ? n<2 ? 0 : 1 : 2", 3, 2},
		{"n==1 || n==2 && 0", 1, 1}, // && binds stronger
		{"n==1 || n==2 && 0", 2, 0},
		{"n>1 == 1", 2, 1}, // comparison binds stronger than equality
		{"1+2*3", 0, 7},
		{"(1+2)*3", 0, 9},
		{"7-2-1", 0, 4},
		{"7/2", 0, 3},
		{"n%10", 13, 3},
		{"n%10", -3, 7}, // rounds down
		{"n/10", -3, -1},
		{"!n", 0, 1},
		{"!!n", 5, 1},
		{"!n==0", 0, 0}, // (!n)==0
		{"n<=2", 2, 1},
		{"n>=2", 1, 0},
		{"n%0", 1, Undefined},
		{"1/(n-1)", 1, Undefined},
		{"n==1 || n/0", 1, 1}, // not evaluated
		{"n==1 && n/0", 2, 0},
		{"n==1 ? 0 : n/0", 1, 0},
		{"n==1 ? 0 : n/0", 2, Undefined},
	}
	for _, tt := range tests {
		f, err := Compile(tt.formula)
		if err != nil {
			t.Errorf("Compile(%q): %v", tt.formula, err)
			continue
		}
		if got := f.Eval(tt.n); got != tt.want {
			t.Errorf("%q for n=%d: %d, want %d", tt.formula, tt.n, got, tt.want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	tests := []struct{ name, formula, want string }{
		{"empty", "", "ends too early"},
		{"template", "EXPRESSION", `"E" at byte 0`},
		{"open", "(n", "ends too early"},
		{"close", "n)", `")" at byte 1`},
		{"no else", "n?1", "ends too early"},
		{"single =", "n=1", `"=" at byte 1`},
		{"two numbers", "1 2", `"2" at byte 2`},
		{"assignment", "n;n", `"n" at byte 2`},
		{"unary minus", "-1", `"-" at byte 0`},
		{"huge number", "99999999999", "at byte 0"},
		{"deep parentheses", strings.Repeat("(", 1000) + "n" + strings.Repeat(")", 1000), "nested deeper"},
		{"deep negation", strings.Repeat("!", 1000) + "n", "nested deeper"},
		{"deep choice", strings.Repeat("n?0:", 1000) + "1", "nested deeper"},
		{"long", strings.Repeat("n+", 1<<20) + "n", "at most 4096"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Compile(tt.formula)
			if !errors.Is(err, ErrFormula) {
				t.Fatalf("error %v, want ErrFormula", err)
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not say %q", err, tt.want)
			}
		})
	}
}

// This test compares with gotext's evaluator, except where that is wrong: for Breton it
// ends a condition at the wrong parenthesis, so n=13 gets form 2 and not 4 as in C.
func TestEvalAgreesWithGotext(t *testing.T) {
	const breton = "br"
	seen := map[string]bool{}
	for _, l := range newTable(t).All() {
		formula := l.Plural.Formula
		if seen[formula] || l.Code == breton {
			continue
		}
		seen[formula] = true
		ours, err := Compile(formula)
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
	f, err := Compile(br.Plural.Formula)
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

func FuzzCompile(f *testing.F) {
	f.Add("n != 1")
	f.Add("(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2;")
	f.Add("n%0 || !n*(1-n)/2")
	f.Fuzz(func(t *testing.T, formula string) {
		c, err := Compile(formula)
		if err != nil {
			if !errors.Is(err, ErrFormula) {
				t.Fatalf("%v is not ErrFormula", err)
			}
			return
		}
		wrapped, err := Compile("(" + trimFormula(formula) + ")")
		if err != nil && len(formula) < maxFormulaLen-2 && !strings.Contains(err.Error(), "nested") {
			t.Fatalf("%q compiles, but not in parentheses: %v", formula, err)
		}
		for _, n := range []int{-10, 0, 1, 2, 5, 11, 1 << 31} {
			got := c.Eval(n)
			if err == nil && got != wrapped.Eval(n) {
				t.Fatalf("%q for n=%d: %d, in parentheses %d", formula, n, got, wrapped.Eval(n))
			}
		}
	})
}
