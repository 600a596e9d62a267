package filemask

import (
	"fmt"
	"regexp"
)

// Rules are a component's rules on top of its mask.
type Rules struct {
	// LanguageRegex the code must match, see [CompileLanguageRegex]; nil: any.
	LanguageRegex *regexp.Regexp
	// Language is the code of all files where the mask reads none.
	Language string
}

// CompileLanguageRegex compiles a component's language_regex. It is matched
// from the start of the code, as Weblate does; empty stands for the default.
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

// sourceCode is a code that stands for templates, not for a language (facts §2).
const sourceCode = "source"

// Select is Match with a component's rules: the code must match the language
// regex and not be "source"; a mask without "*" takes its code from the
// options.
func (f Mask) Select(path string, o Rules) (Match, bool) {
	m, ok := f.Match(path)
	if !ok {
		return Match{}, false
	}
	if !f.HasLanguage() {
		m.Code = o.Language
		return m, m.Code != ""
	}
	if m.Code == sourceCode || o.LanguageRegex != nil && !o.LanguageRegex.MatchString(m.Code) {
		return Match{}, false
	}
	return m, true
}
