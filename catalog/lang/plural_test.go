package lang

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPluralForOwnRule(t *testing.T) {
	table := newTable(t)
	tests := []struct {
		name, code string
		number     int
		formula    string
	}{
		{"the same", "cs", 3, "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"},
		{"blanks and ;", "cs", 3, " (n==1)?0:(n>=2&&n<=4)?1:2 ; "},
		{"in other words", "cs", 3, "n==1 ? 0 : n==2 || n==3 || n==4 ? 1 : 2"},
		{"the other way round", "de", 2, "n==1 ? 0 : 1"},
		{"no header", "cs", 0, ""},
		{"template", "cs", 3, "EXPRESSION"},
		{"no formula", "cs", 2, ""},
		{"not a formula", "cs", 2, "n=="},
		{"no forms", "cs", 0, "n != 1"},
		{"negative", "cs", -1, "n != 1"},
		{"too many forms", "cs", MaxForms + 1, "n != 1"},
		{"hostile number", "cs", 1 << 40, "n != 1"},
		{"hostile length", "cs", 2, strings.Repeat("n+", 1<<20) + "n"},
		{"hostile depth", "cs", 2, strings.Repeat("(", 2000) + "n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := table.ByCode(tt.code)
			if diff := cmp.Diff(l.Plural, PluralFor(l, tt.number, tt.formula)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestPluralForFileRule(t *testing.T) {
	table := newTable(t)
	tests := []struct {
		name, code string
		number     int
		formula    string
		wantType   int
	}{
		{"other formula", "fr", 2, "n != 1", 1},
		{"other number, same results", "en", 3, "n != 1", 1},
		{"known", "lv", 3, "(n%10==1 && n%100!=11 ? 0 : n != 0 ? 1 : 2);", 7},
		{"known by its results only", "he", 3, "n!=1 ? n!=2 ? 2 : 1 : 0", 4},
		{"known by its text", "ar", 2, "n != 1", 1},
		{"unknown in Arabic", "ar_EG", 2, "n == 7", 3},
		{"unknown", "de", 2, "n == 7", 666},
		{"the odd one of the table", "sgs", 3, "n%7", 666},
		{"differs only at 1000", "de", 2, "n != 1 && n != 1000", 666},
		{"differs only below zero", "de", 2, "n != 1 && n >= 0", 666},
		{"divides by zero", "de", 2, "n % 0", 666},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, _ := table.ByCode(tt.code)
			got := PluralFor(l, tt.number, tt.formula)
			if got.ID < 1 || got.ID >= 1<<31 || got.ID == l.Plural.ID {
				t.Errorf("id %d", got.ID)
			}
			got.ID = 0
			want := Plural{Source: SourceGettext, Number: tt.number, Formula: trimFormula(tt.formula), Type: tt.wantType}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Every formula of plural-types.csv must get its type by its text, and by its results
// alone: `+0` at the end changes the text and not the results. Three formulas of type 8
// have the results of formulas of type 22, which come first.
func TestTypesOfTheTable(t *testing.T) {
	rows := readTypes(t)
	types := knownTypes()
	eights := 0
	for _, row := range rows {
		code := "en"
		if row.kind == typeArabic {
			code = "ar"
		}
		if got := types.typeOf(code, row.formula); got != row.kind {
			t.Errorf("%q in %s: type %d, want %d", row.formula, code, got, row.kind)
		}
		got := types.typeOf(code, "("+row.formula+")+0")
		if got == 22 && row.kind == 8 {
			eights++
		} else if got != row.kind {
			t.Errorf("%q by its results: type %d, want %d", row.formula, got, row.kind)
		}
	}
	if eights != 3 {
		t.Errorf("%d formulas of type 8 count as 22 by their results, want 3", eights)
	}
}

func FuzzPluralFor(f *testing.F) {
	f.Add("cs", 3, "n==1 ? 0 : 1")
	f.Add("ar", 2, "n%0")
	f.Add("xx", -1, "((((")
	table := newTable(f)
	f.Fuzz(func(t *testing.T, code string, number int, formula string) {
		l := table.Match(code)
		got := PluralFor(l, number, formula)
		if got.Number < 1 || got.Number > MaxForms || got.ID < 1 || got.ID >= 1<<31 {
			t.Fatalf("%+v", got)
		}
		if got.Source == SourceDefault && got != l.Plural {
			t.Fatalf("%+v claims to be the language's %+v", got, l.Plural)
		}
		if got.Source == SourceGettext && got.Number != number {
			t.Fatalf("%d forms, the file has %d", got.Number, number)
		}
		if again := PluralFor(Language{Code: l.Code, Plural: got}, got.Number, got.Formula); again != got {
			t.Fatalf("a rule is not the same as itself: %+v, %+v", got, again)
		}
	})
}

func BenchmarkPluralFor(b *testing.B) {
	l, _ := newTable(b).ByCode("cs")
	for _, bm := range []struct{ name, formula string }{
		{"same", "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2"},
		{"equal", "n==1 ? 0 : n>=2 && n<=4 ? 1 : 2"},
		{"other", "n==1 ? 0 : n==2 ? 1 : 2"},
	} {
		b.Run("formula="+bm.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				PluralFor(l, 3, bm.formula)
			}
		})
	}
}
