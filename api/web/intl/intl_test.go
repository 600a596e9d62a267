package intl

import (
	"strings"
	"testing"
	"time"
)

// TestTexts: gotext reads the files: texts, plural forms, numbers and dates by language.
func TestTexts(t *testing.T) {
	t.Parallel()
	table, err := New()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2024, 5, 7, 9, 30, 0, 0, time.UTC)
	for tag, want := range map[string][]string{
		"en": {"Languages", "one string", "5 strings", "7 May 2024", "1,234"},
		"cs": {"Jazyky", "jeden řetězec", "5 řetězců", "7. května 2024", "1\u00a0234"},
		"de": {"Sprachen", "eine Zeichenkette", "5 Zeichenketten", "7. Mai 2024", "1.234"},
		"fr": {"Langues", "1 chaîne", "5 chaînes", "7 mai 2024", "1\u00a0234"},
		"ar": {"اللغات", "نص واحد", "5 نصوص", "7 مايو 2024", "1,234"},
	} {
		l := table.Named(tag)
		for i, got := range []string{l.T("Languages"), l.N("one string", "%s strings", 1), l.N("one string", "%s strings", 5), l.Day(at), l.Number(1234)} {
			if got != want[i] {
				t.Errorf("%s: %q, want %q", tag, got, want[i])
			}
		}
	}
}

// TestJoin: names keep their order beside letters from right to left.
func TestJoin(t *testing.T) {
	t.Parallel()
	table, err := New()
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string]string{"en": "a · b", "ar": "\u2068a\u2069 · \u2068b\u2069"} {
		if got := table.Named(tag).Join("a", "b"); got != want {
			t.Errorf("%s: %q", tag, got)
		}
	}
	if got := table.Named("ar").T("Changes of %s", "<a>"); !strings.HasSuffix(got, "\u2068<a>\u2069") {
		t.Errorf("a name in a sentence: %q", got)
	}
}
