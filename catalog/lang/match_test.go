package lang

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestMatchKnown(t *testing.T) {
	table := newTable(t)
	tests := []struct{ code, want string }{
		// exactly, case, separators
		{"cs", "cs"},
		{"PT_br", "pt_BR"},
		{"zh-hans", "zh_Hans"},
		{"zh+Hant+HK", "zh_Hant_HK"},
		{"sv_FI", "sv-FI"},
		{"ca@valencia", "ca@valencia"},
		{"de_AT", "de_AT"},
		// sanitised
		{"b+zh+Hans", "zh_Hans"},
		{"pt-rBR", "pt_BR"},
		{"zh-rTW", "zh_Hant"},
		{"cs-rCZ", "cs"},
		{"cs (2)", "cs"},
		{"pt_BR(1)", "pt_BR"},
		{" cs ", "cs"},
		{".cs.", "cs"},
		{"c\u00a0s\x00\xff", "cs"},
		// an r that is not Android's
		{"sr-rs", "sr"},
		{"sr-RS", "sr"},
		// names
		{"Czech", "cs"},
		{"ENGLISH", "en"},
		{"Volapük", "vo"},
		{"Dan", "da"}, // the alias wins over the name of dnj
		{"mon", "mn"}, // and over that of mnw
		{"ga", "ga"},  // a code wins over the name of gaa
		{"lao", "lo"},
		// four letters
		{"ptbr", "pt_BR"},
		{"deAT", "de_AT"},
		{"zhcn", "zh_Hans"},
		{"Thai", "th"},
		// aliases
		{"cz", "cs"},
		{"sh", "sr_Latn"},
		{"sr_RS@latin", "sr_Latn"},
		{"zh_CN", "zh_Hans"},
		{"nb", "nb_NO"},
		{"no_NO", "nb_NO"},
		{"mo", "ro_MD"},
		{"iw", "he"},
		{"sr-Latn-RS", "sr_Latn"},
		{"source", "en"},
		// default countries, but not where the country has a row of its own
		{"cs_CZ", "cs"},
		{"cs-cz", "cs"},
		{"ja_JP", "ja"},
		{"en_US", "en_US"},
		{"he_IL", "he_IL"},
		{"bn_BD", "bn_BD"},
		// empty after sanitising
		{"", "und"},
		{"(2)", "und"},
		{"..", "und"},
		{"b+", "und"},
	}
	for _, tt := range tests {
		want, ok := table.ByCode(tt.want)
		if !ok {
			t.Fatalf("no language %q", tt.want)
		}
		if diff := cmp.Diff(want, table.Match(tt.code)); diff != "" {
			t.Errorf("Match(%q) -want +got:\n%s", tt.code, diff)
		}
	}
}

func TestMatchUnknown(t *testing.T) {
	table := newTable(t)
	const twoForms = "n != 1"
	tests := []struct {
		code string
		want Language // without the plural's id
	}{
		{"xx", Language{Code: "xx", Name: "xx (generated)", Direction: "ltr", Plural: Plural{Number: 2, Formula: twoForms, Type: 1}}},
		{"XX_yy (3)", Language{Code: "XX_yy", Name: "XX_yy (generated)", Direction: "ltr", Plural: Plural{Number: 2, Formula: twoForms, Type: 1}}},
		{"ph_PH", Language{Code: "ph_PH", Name: "ph_PH (generated)", Direction: "ltr", Plural: Plural{Number: 2, Formula: twoForms, Type: 1}}},
		{"khw", Language{Code: "khw", Name: "khw (generated)", Direction: "rtl", Plural: Plural{Number: 2, Formula: twoForms, Type: 1}}},
		{"es_XX", Language{Code: "es_XX", Name: "Spanish", Direction: "ltr", Population: 507599381, Plural: Plural{Number: 2, Formula: twoForms, Type: 1}}},
		{"fa@special", Language{Code: "fa@special", Name: "Persian", Direction: "rtl", Population: 89208445, Plural: Plural{Number: 2, Formula: "n > 1", Type: 1}}},
		{"nb_SJ", Language{Code: "nb_SJ", Name: "Norwegian Bokmål", Direction: "ltr", Population: 5509730, Plural: Plural{Number: 2, Formula: twoForms, Type: 1}}},
		{"zh_Hant_MO", Language{Code: "zh_Hant_MO", Name: "Chinese (Traditional)", Direction: "ltr", Population: 39078482, Plural: Plural{Number: 1, Formula: "0"}}},
		{"ja.euc-jp", Language{Code: "ja.euc-jp", Name: "Japanese", Direction: "ltr", Population: 117608755, Plural: Plural{Number: 1, Formula: "0"}}},
		{"zh_CN.cp936", Language{Code: "zh_CN.cp936", Name: "Chinese (Simplified)", Direction: "ltr", Population: 1286444445, Plural: Plural{Number: 1, Formula: "0"}}},
	}
	ids := map[int]string{}
	for _, tt := range tests {
		got := table.Match(tt.code)
		if got.Plural.ID < 1 || ids[got.Plural.ID] != "" {
			t.Errorf("Match(%q): plural id %d, also of %q", tt.code, got.Plural.ID, ids[got.Plural.ID])
		}
		ids[got.Plural.ID] = tt.code
		got.Plural.ID = 0
		tt.want.Aliases = []string{}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Match(%q) -want +got:\n%s", tt.code, diff)
		}
		if _, ok := table.Lookup(tt.want.Code); ok {
			t.Errorf("matching %q put it into the table", tt.code)
		}
	}
}

// A code of a megabyte must cost about as much as reading it: with a lookup for each
// separator this test would take hours.
func TestMatchHostileLength(t *testing.T) {
	table := newTable(t)
	for _, part := range []string{"_", "b+", ".", "b+.", "x_", "(", " ", "\xff", "-rab"} {
		long := strings.Repeat(part, 1<<20)
		if got := table.Match(long); got.Code == "" {
			t.Errorf("%q repeated has no code", part)
		}
		if got := table.Match("pt_BR@x" + long); got.Name != "Portuguese (Brazil)" {
			t.Errorf("pt_BR@x%s… is %q", part, got.Name)
		}
	}
}

func TestVariant(t *testing.T) {
	table := newTable(t)
	base := table.Match("no")
	got := table.Variant("no", base)
	if got.Plural.ID == base.Plural.ID || got.Plural.ID < 1 {
		t.Errorf("plural id %d, that of the base is %d", got.Plural.ID, base.Plural.ID)
	}
	got.Plural.ID = 0
	want := Language{
		Code: "no", Name: "Norwegian Bokmål", Direction: "ltr", Aliases: []string{}, Population: 5509730,
		Plural: Plural{Number: 2, Formula: "n != 1", Type: 1},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if a, b := table.Variant("x", base), table.Variant("x", got); a.Plural.ID != b.Plural.ID {
		t.Error("the plural id does not depend on the code alone")
	}
	if diff := cmp.Diff(base, table.Variant("", base)); diff != "" {
		t.Errorf("an empty code -want +got:\n%s", diff)
	}
}

func FuzzMatch(f *testing.F) {
	for _, code := range []string{"cs", "b+sr+Latn", "zh-rTW", "cs (2)", "..", "x@y_z", "b+.b+.", "\xff", "ptbr", "a-rrbr", "İ_ı"} {
		f.Add(code)
	}
	table := newTable(f)
	f.Fuzz(func(t *testing.T, code string) {
		got := table.Match(code)
		if got.Code == "" || got.Name == "" || got.Aliases == nil || got.Plural.Number < 1 || got.Plural.ID < 1 {
			t.Fatalf("Match(%q) = %+v", code, got)
		}
		if !utf8.ValidString(got.Code) || strings.ContainsAny(got.Code, "\x00\n ") || got.Code == "." || got.Code == ".." {
			t.Fatalf("Match(%q) has the code %q", code, got.Code)
		}
		if diff := cmp.Diff(got, table.Match(got.Code)); diff != "" {
			t.Fatalf("Match(%q) is %q, which is another language:\n%s", code, got.Code, diff)
		}
		if found, ok := table.Lookup(code); ok {
			if exact, _ := table.ByCode(found.Code); exact.Code != found.Code {
				t.Fatalf("Lookup(%q) = %q, which is not in the table", code, found.Code)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	table := newTable(b)
	for _, code := range []string{"cs", "zh_CN", "cs_CZ", "zh_CN.cp936"} {
		b.Run("code="+code, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.Match(code)
			}
		})
	}
}
