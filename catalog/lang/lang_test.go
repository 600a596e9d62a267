package lang

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/repoglot/repoglot/poparse/plural"
)

// newTable is the table under test.
func newTable(tb testing.TB) *Table {
	tb.Helper()
	t, err := New()
	must(tb, err)
	return t
}

func TestByCode(t *testing.T) {
	table := newTable(t)
	tests := []struct {
		code string
		want Language
	}{
		{"cs", Language{
			Code: "cs", Name: "Czech", Direction: LeftToRight,
			Aliases: []string{"cs_cs", "cz", "csy", "ces", "cze"},

			Population: 13236057,
			Plural:     Plural{ID: 1715983241, Number: 3, Formula: "(n==1) ? 0 : (n>=2 && n<=4) ? 1 : 2", Type: 22},
		}},
		{"ar_EG", Language{
			Code: "ar_EG", Name: "Arabic (Egypt)", Direction: RightToLeft,
			Aliases: []string{"eg"},

			Population: 104572180,
			Plural: Plural{
				ID: 1746611313, Number: 6, Type: 3,
				Formula: "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5",
			},
		}},
		{"en_Shaw_GB", Language{ // a name with a comma
			Code: "en_Shaw_GB", Name: "English (Shavian script, United Kingdom)", Direction: LeftToRight,
			Aliases: []string{},
			Plural:  Plural{ID: 38714036, Number: 2, Formula: "n != 1", Type: 1},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			got, ok := table.ByCode(tt.code)
			if !ok {
				t.Fatal("not found")
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
	for _, code := range []string{"", "CS", "cz", "zh_CN", "code", "xx"} {
		if got, ok := table.ByCode(code); ok {
			t.Errorf("ByCode(%q) = %q, want none", code, got.Code)
		}
	}
}

func TestLookup(t *testing.T) {
	table := newTable(t)
	tests := []struct{ code, want string }{
		{"cs", "cs"},
		{"CS", "cs"},
		{"cz", "cs"},
		{"CZE", "cs"},
		{"pt-br", "pt_BR"},
		{"pt+BR", "pt_BR"},
		{"zh_CN", "zh_Hans"},
		{"zh-TW", "zh_Hant"},
		{"sr@latin", "sr_Latn"},
		{"tlh-Qaak", "tlh_Piqd"},
		{"sv_FI", "sv-FI"},
		{"nb", "nb_NO"},
		{"no", "nb_NO"},
		{"", ""},
		{"Czech", ""},     // names are for file names
		{"ptbr", ""},      // so are codes without separator
		{"cs_CZ", ""},     // and default countries
		{"cs (2)", ""},    // and copies
		{"#", ""},         // a comment in aliases.csv
		{"Windows", ""},   // its text
		{"xx", ""},        // nothing
		{"cs\x00", ""},    // nothing
		{"de_DE@x", ""},   // nothing is invented
		{"generated", ""}, // nothing
	}
	for _, tt := range tests {
		got, ok := table.Lookup(tt.code)
		if got.Code != tt.want || ok != (tt.want != "") {
			t.Errorf("Lookup(%q) = %q, %t, want %q", tt.code, got.Code, ok, tt.want)
		}
	}
}

func TestAll(t *testing.T) {
	table := newTable(t)
	all := table.langs
	if len(all) != 799 { // rows of languages.csv
		t.Errorf("%d languages, want 799", len(all))
	}
	if !slices.IsSortedFunc(all, func(a, b Language) int {
		return strings.Compare(a.Code, b.Code)
	}) {
		t.Error("not sorted by code")
	}
	ids := map[int]string{}
	for _, l := range all {
		if l.Plural.ID < 1 || l.Plural.ID >= 1<<31 {
			t.Errorf("%s: plural id %d is not in 1..2^31-1", l.Code, l.Plural.ID)
		}
		if other, ok := ids[l.Plural.ID]; ok {
			t.Errorf("%s and %s share the plural id %d", l.Code, other, l.Plural.ID)
		}
		ids[l.Plural.ID] = l.Code
		if l.Aliases == nil || l.Name == "" || l.Plural.Source != SourceDefault {
			t.Errorf("incomplete: %+v", l)
		}
		f, err := plural.Compile(l.Plural.Formula)
		if err != nil {
			t.Errorf("%s: %v", l.Code, err)
			continue
		}
		for n := range 2000 {
			if form := f.Eval(n); form < 0 || form >= l.Plural.Number {
				t.Errorf("%s: form %d of %d for n=%d", l.Code, form, l.Plural.Number, n)
				break
			}
		}
		for _, alias := range l.Aliases {
			if got := table.Match(alias); got.Code != l.Code {
				t.Errorf("alias %q of %s matches %s", alias, l.Code, got.Code)
			}
		}
	}
}

// The answers must not be a way to change the table.
func TestTableIsImmutable(t *testing.T) {
	table := newTable(t)
	cs, _ := table.ByCode("cs")
	_ = append(cs.Aliases, "changed")
	if diff := cmp.Diff(newTable(t).langs, table.langs); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if again, _ := table.ByCode("cs"); cap(again.Aliases) != len(again.Aliases) {
		t.Error("appending to the aliases would write into the table")
	}
}

func TestCodes(t *testing.T) {
	tests := []struct {
		code, base string
		cjk        bool
	}{
		{"ja", "ja", true},
		{"ja_KS", "ja", true},
		{"zh_Hans", "zh", true},
		{"zh-TW", "zh", true},
		{"KO", "ko", true},
		{"ja.euc-jp", "ja", true},
		{"yue_Hant", "yue", false},
		{"kok", "kok", false},
		{"zha", "zha", false},
		{"sr@latin", "sr", false},
		{"en", "en", false},
		{"", "", false},
		{"_ja", "", false},
	}
	for _, tt := range tests {
		if got := BaseCode(tt.code); got != tt.base {
			t.Errorf("BaseCode(%q) = %q, want %q", tt.code, got, tt.base)
		}
		if got := IsCJK(tt.code); got != tt.cjk {
			t.Errorf("IsCJK(%q) = %t", tt.code, got)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(); err != nil {
			b.Fatal(err)
		}
	}
}
