package plural

import (
	"errors"
	"strings"
	"testing"
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
		wrapped, err := Compile("(" + strings.TrimSuffix(strings.TrimSpace(formula), ";") + ")")
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
