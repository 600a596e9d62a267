package query

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLiterals: the literals to look for before an expression is run.
func TestLiterals(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]literals{
		`open file`:                             {{"open file", false}},
		`[a-z]+ river$|x17`:                     {{" river", false}, {"x17", false}},
		`(?i)ŘEČ\s+7`:                           {{"ŘEČ", true}},
		`a(bc)+d|(?i:Straße) x?`:                {{"bc", false}, {"STRAßE", true}},
		`^(save|close) [0-9]`:                   {{"save", false}, {"close", false}},
		`(abc){2,}`:                             {{"abc", false}},
		`a*`:                                    nil,
		`abc|[0-9]`:                             nil,
		`(abc)?`:                                nil,
		"x\ufffdy":                              nil,
		``:                                      nil,
		strings.Repeat("ab|c[0-9]|d|", 8) + "e": nil,
	} {
		tree, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, literalsOf(tree.Simplify()), cmp.AllowUnexported(literal{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pattern, diff)
		}
	}
}

// TestLiteralsChangeNothing: with the literals an expression matches the same
// texts, and each of these has one of the needles.
func TestLiteralsChangeNothing(t *testing.T) {
	t.Parallel()
	var expression func(depth int) *rapid.Generator[string]
	expression = func(depth int) *rapid.Generator[string] {
		letters := rapid.StringOfN(rapid.SampledFrom([]rune("abAB ſKkßřŘ\ufffd")), 1, 3, -1)
		if depth == 0 {
			return rapid.OneOf(letters, rapid.SampledFrom([]string{"[a-c]", ".", "^", "$", `\s`, `\b`}))
		}
		sub := rapid.Deferred(func() *rapid.Generator[string] { return expression(depth - 1) })
		return rapid.Custom(func(t *rapid.T) string {
			switch rapid.IntRange(0, 6).Draw(t, "kind") {
			case 0:
				return sub.Draw(t, "left") + sub.Draw(t, "right")
			case 1:
				return "(" + sub.Draw(t, "left") + "|" + sub.Draw(t, "right") + ")"
			case 2:
				return "(" + sub.Draw(t, "of") + ")" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{1,3}", "{0,2}"}).Draw(t, "times")
			case 3:
				return "(?i:" + sub.Draw(t, "of") + ")"
			}
			return letters.Draw(t, "letters")
		})
	}
	text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "A", "B", " ", "ſ", "s", "S", "K", "k", "ß", "ř", "Ř", "\ufffd", "\xff", "\n"}), 0, 8),
		func(parts []string) string { return strings.Join(parts, "") })
	var fold Folder
	rapid.Check(t, func(t *rapid.T) {
		pattern := expression(3).Draw(t, "pattern")
		test, needles, err := Match{Kind: Regexp, Pattern: pattern}.Compile(&fold)
		if err != nil {
			t.Fatal(err)
		}
		plain := regexp.MustCompile(pattern)
		for range 20 {
			s := text.Draw(t, "text")
			got, want := test(s), plain.MatchString(s)
			if got != want {
				t.Fatalf("%q in %q: %v, want %v", pattern, s, got, want)
			}
			if want && needles != nil && !slices.ContainsFunc(needles, func(needle []byte) bool { return strings.Contains(fold.String(s), string(needle)) }) {
				t.Fatalf("%q matches %q, which has none of %q", pattern, s, needles)
			}
		}
	})
}
