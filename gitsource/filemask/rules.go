package filemask

import (
	"fmt"
	"regexp"
)

// Rules are a component's rules in addition to its mask.
type Rules struct {
	// LanguageRegex the code must match, see [CompileLanguageRegex]; nil: any.
	LanguageRegex *regexp.Regexp
	// Language is the code of all files if the mask has no "*".
	Language string
}

// CompileLanguageRegex compiles a component's language_regex. As in Weblate, it is
// matched from the start of the code. Empty means [DefaultLanguageRegex].
func CompileLanguageRegex(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		expr = DefaultLanguageRegex
	}
	re, err := regexp.Compile(`\A(?:` + expr + `)`)
	if err != nil {
		return nil, fmt.Errorf("language_regex %.200q: %w; see https://pkg.go.dev/regexp/syntax", expr, err)
	}
	return re, nil
}

// sourceCode is the code of templates; it is no language
// (docs/compatibility.md#languages).
const sourceCode = "source"

// Select is Match with a component's rules: the code must match the language regex
// and must not be "source". With a mask without "*" the code is r.Language.
func (f Mask) Select(path string, r Rules) (Match, bool) {
	m, ok := f.Match(path)
	if !ok {
		return Match{}, false
	}
	if !f.HasLanguage() {
		m.Code = r.Language
		return m, m.Code != ""
	}
	if m.Code == sourceCode || r.LanguageRegex != nil && !r.LanguageRegex.MatchString(m.Code) {
		return Match{}, false
	}
	return m, true
}
