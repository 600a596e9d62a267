package filemask

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/repoglot/repoglot/gitsource/gittest"
)

func TestFilemaskMatch(t *testing.T) {
	no := Match{Code: "-"}
	for _, c := range []struct {
		mask, path string
		want       Match
	}{
		{"po/*.po", "po/cs.po", Match{Code: "cs"}},
		{"po/*.po", "po/zh_CN.cp936.po", Match{Code: "zh_CN.cp936"}},
		{"po/*.po", "po/extra/cs.po", no},
		{"po/*.po", "xpo/cs.po", no},
		{"po/*.po", "po/cs.pot", no},
		{"po/*.po", "po/csxpo", no},
		{"po/*.po", "po/.po", no}, // an empty code is no code
		{"*/library/functions.po", "pl/library/functions.po", Match{Code: "pl"}},
		// The longest "*" is the code, of equal ones the first.
		{"help/*/*.po", "help/cs/cs.po", Match{Code: "cs"}},
		{"*/x/*.po", "ab/x/sr@latin.po", Match{Code: "sr@latin"}},
		{"*/x/*.po", "sr@latin/x/ab.po", Match{Code: "sr@latin"}},
		{"a*-*/x.po", "a-de/x.po", Match{Code: "de"}},
		{"po/*.(x)+[a].po", "po/de.(x)+[a].po", Match{Code: "de"}},
		{"po/*.(x)+[a].po", "po/de.xxa.po", no},
		{"{component}.po", "library/functions.po", Match{Component: "library/functions"}},
		{"locale/*/LC_MESSAGES/{component}.po", "locale/de/LC_MESSAGES/a/b.po", Match{Code: "de", Component: "a/b"}},
		{"{component}/po/*.po", "x/y/po/de.po", Match{Code: "de", Component: "x/y"}},
		{"{component}/*/{component}.po", "app/de/app.po", Match{Code: "de", Component: "app"}},
		{"{component}/*/{component}.po", "app/de/web.po", no},
		{"po/de.po", "po/de.po", Match{}},
		{"po/*.po", "po/a\nb.po", no},
		{"po/*.po", "po/a\\b.po", no},
		{"po/*.po", "po/\xff.po", no},
		{"*/x.po", "../x.po", no},
		{"{component}.po", "a/../b.po", no},
		{"{component}.po", "/a.po", no},
	} {
		got, ok := mask(t, c.mask).Match(c.path)
		if !ok {
			got = no
		}
		if got != c.want {
			t.Errorf("%q matches %q as %+v, want %+v", c.mask, c.path, got, c.want)
		}
	}
	if _, ok := (Mask{}).Match(""); ok || (Mask{}).Below("a") {
		t.Error("the zero mask matches something")
	}
}

// TestFilemaskPath: the path of a code has the form of the mask, and that code.
func TestFilemaskPath(t *testing.T) {
	for _, text := range []string{"po/*.po", "help/*/*.po", "*/x.po", "de.po"} {
		m, err := Parse(text)
		gittest.Must(t, err)
		got, ok := m.Match(m.Path("pt_BR"))
		if !ok || m.HasLanguage() && got.Code != "pt_BR" {
			t.Errorf("%s: %s is of %+v, %v", text, m.Path("pt_BR"), got, ok)
		}
	}
}

func TestParseFilemaskRefuses(t *testing.T) {
	for mask, says := range map[string]string{
		"":                                "empty",
		"/po/*.po":                        "absolute",
		"../*.po":                         `".."`,
		"po//*.po":                        `part ""`,
		"po\\*.po":                        "backslash",
		"po/**/*.po":                      "{component}",
		"{lang}.po":                       "braces",
		"{component.po":                   "braces",
		"*{component}.po":                 "between",
		"{component}{component}.po":       "between",
		"po/\x00*.po":                     "control",
		strings.Repeat("*-", 11) + "x.po": "more than",
		strings.Repeat("a", 5000):         "longer",
	} {
		_, err := Parse(mask)
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40q: %v, want an ErrInvalidMask that says %q", mask, err, says)
		}
	}
}

func TestFilemaskBelow(t *testing.T) {
	for _, c := range []struct {
		mask string
		yes  []string
		no   []string
	}{
		{"po/*.po", []string{"po"}, []string{"src", "po/extra", "p", "pox"}},
		{"a/*/LC_MESSAGES/x.po", []string{"a", "a/de", "a/de/LC_MESSAGES"}, []string{"b", "a/de/x", "a/de/LC_MESSAGES/y"}},
		{"*/{component}.po", []string{"de", "de/x", "de/x/y"}, nil},
		{"{component}/po/*.po", []string{"x", "x/po", "x/y/z"}, nil},
		{"doc/{component}/*.po", []string{"doc", "doc/x"}, []string{"src"}},
		{"x.po", nil, []string{"x", "x.po"}},
	} {
		m := mask(t, c.mask)
		for _, dir := range c.yes {
			if !m.Below(dir) {
				t.Errorf("%q: nothing below %q", c.mask, dir)
			}
		}
		for _, dir := range c.no {
			if m.Below(dir) {
				t.Errorf("%q: something below %q", c.mask, dir)
			}
		}
	}
}

func TestFilemaskSelect(t *testing.T) {
	regex, err := CompileLanguageRegex("")
	gittest.Must(t, err)
	begins, err := CompileLanguageRegex("cs|de")
	gittest.Must(t, err)
	for _, c := range []struct {
		mask, path string
		o          Rules
		want       string
	}{
		{"po/*.po", "po/cs.po", Rules{LanguageRegex: regex}, "cs"},
		{"po/*.po", "po/cs.cp1250.po", Rules{LanguageRegex: regex}, ""},
		{"po/*.po", "po/cs.cp1250.po", Rules{}, "cs.cp1250"},
		{"po/*.po", "po/source.po", Rules{}, ""},
		{"po/*.po", "po/de_AT.po", Rules{LanguageRegex: begins}, "de_AT"}, // from the start only, as Python's match
		{"po/*.po", "po/nds.po", Rules{LanguageRegex: begins}, ""},
		{"{component}.po", "a/b.po", Rules{Language: "es", LanguageRegex: begins}, "es"},
		{"{component}.po", "a/b.po", Rules{}, ""},
	} {
		m, ok := mask(t, c.mask).Select(c.path, c.o)
		if m.Code != c.want || ok != (c.want != "") {
			t.Errorf("%q selects %q as %q, %v; want %q", c.mask, c.path, m.Code, ok, c.want)
		}
	}
	if _, err := CompileLanguageRegex("("); err == nil {
		t.Error("a broken language_regex was taken")
	}
}

func TestMatchMasks(t *testing.T) {
	m := NewMatcher([]Mask{mask(t, "po/*.po"), mask(t, "b/c/*.po")}, "doc/x/app.pot")
	for path, want := range map[string]bool{"po/a.po": true, "b/c/d.po": true, "doc/x/app.pot": true, "doc/x/b.pot": false, "po/x/a.po": false} {
		if m.Want(path) != want {
			t.Errorf("Want(%q) is %v", path, !want)
		}
	}
	for dir, want := range map[string]bool{"po": false, "b": false, "b/c": false, "doc": false, "doc/x": false, "doc/y": true, "src": true, "po/x": true} {
		if m.Prune(dir) != want {
			t.Errorf("Prune(%q) is %v", dir, !want)
		}
	}
}

func FuzzFilemask(f *testing.F) {
	for _, s := range [][2]string{{"po/*.po", "po/de.po"}, {"{component}/*/{component}.po", "a/b/a.po"}, {"**", "/.."}, {"a{component}b*c", "axbyc"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, text, path string) {
		m, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("error without a sentinel: %v", err)
			}
			return
		}
		got, ok := m.Match(path)
		if !ok {
			return
		}
		if err := CheckPath(path); err != nil {
			t.Fatalf("%q matches an unsafe path: %v", text, err)
		}
		if m.HasLanguage() != (got.Code != "") || strings.Contains(got.Code, "/") {
			t.Fatalf("%q on %q: code %q", text, path, got.Code)
		}
		// Independent reading of the rule: the literal parts are in order.
		rest := path
		for _, part := range regexp.MustCompile(`\*|\{component\}`).Split(text, -1) {
			i := strings.Index(rest, part)
			if i < 0 {
				t.Fatalf("%q on %q: %q is missing", text, path, part)
			}
			rest = rest[i+len(part):]
		}
		for i := range len(path) {
			if path[i] == '/' && !m.Below(path[:i]) {
				t.Fatalf("%q matches %q, but says nothing is below %q", text, path, path[:i])
			}
		}
	})
}

func TestMain(m *testing.M) { gittest.Main(m) }

func mask(tb testing.TB, text string) Mask {
	tb.Helper()
	m, err := Parse(text)
	gittest.Must(tb, err)
	return m
}

// TestBelowIsLiteral: what is special in the patterns of package path is not in masks.
func TestBelowIsLiteral(t *testing.T) {
	for mask, dirs := range map[string]map[string]bool{
		"a?/[b]/*.po": {"a?": true, "ab": false, "a?/[b]": true, "a?/b": false},
		"a-*/x/*.po":  {"a-": true, "a-b?": true, "a": false, "a-b/x": true, "a-b/y": false},
		"a[/*.po":     {"a[": true, "a": false},
	} {
		f, err := Parse(mask)
		if err != nil {
			t.Fatal(err)
		}
		for dir, want := range dirs {
			if f.Below(dir) != want {
				t.Errorf("%s below %s: %t", mask, dir, !want)
			}
		}
	}
}
