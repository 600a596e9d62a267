package poparse

import (
	"strings"
	"testing"
)

func TestPluralForms(t *testing.T) {
	const arabic = "n==0 ? 0 : n==1 ? 1 : n==2 ? 2 : n%100>=3 && n%100<=10 ? 3 : n%100>=11 ? 4 : 5"
	for field, want := range map[string]PluralForms{
		"nplurals=2; plural=n != 1;":                   {2, "n != 1"},
		"nplurals=2; plural=(n != 1)":                  {2, "(n != 1)"},
		" nplurals = 1 ; plural = 0 ; ":                {1, "0"},
		"nplurals=6; plural=" + arabic + ";":           {6, arabic},
		"nplurals=3; plural=!n ? 0 : (n-1)*2/3+n%5|1;": {},
		"nplurals=2; plural=n>1; and more":             {2, "n>1"},
		"":                                             {},
		"2":                                            {},
		"plural=n; nplurals=2":                         {},
		"nplurals=INTEGER; plural=EXPRESSION;":         {},
		"nplurals=2; plural=n=1;":                      {},
		"nplurals=2; plural==n;":                       {},
		"nplurals=2; plural=(n;":                       {},
		"nplurals=2; plural=n);":                       {},
		"nplurals=2; plural=;":                         {},
		"nplurals=2; plural=n ? 1;":                    {},
		"nplurals=2; plural=n 1;":                      {},
		"nplurals=2; plural=system(1);":                {},
		"nplurals=0; plural=0;":                        {},
		"nplurals=-1; plural=0;":                       {},
		"nplurals=33; plural=0;":                       {},
		"nplurals=99999999999999999999; plural=0;":     {},
		"nplurals=2 plural=0;":                         {},
		"nplurals=2; plural=" + strings.Repeat("(", 900) + "n" + strings.Repeat(")", 900) + ";": {},
		"nplurals=2; plural=" + strings.Repeat("n+", 1500) + "n;":                               {},
	} {
		data := "msgid \"\"\nmsgstr \"\"\n\"Language: xx\\n\"\n\"plural-FORMS: " + field + "\\n\"\n"
		f, err := Parse("x.po", []byte(data))
		must(t, err)
		got, ok := f.PluralForms()
		if got != want || ok != (want != PluralForms{}) {
			t.Errorf("%.80q: %v, %v, want %v", field, got, ok, want)
		}
	}
}

func TestField(t *testing.T) {
	f, err := Parse("x.po", []byte("msgid \"\"\nmsgstr \"\"\n\"Language: cs\\n\"\n\"X-Note:  a: b \\n\"\n\"language: de\\n\"\n\"Empty:\\n\"\n\"no colon\\n\"\n"))
	must(t, err)
	for name, want := range map[string]string{"Language": "cs", "LANGUAGE": "cs", "x-note": "a: b", "Empty": "", "no colon": "", "Missing": ""} {
		if got := f.Field(name); got != want {
			t.Errorf("Field(%q) = %q, want %q", name, got, want)
		}
	}
	if got := new(File).Field("Language"); got != "" {
		t.Errorf("without header: %q", got)
	}
}
