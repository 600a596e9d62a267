package checks

import (
	"fmt"
	resyntax "regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// FlagErrors describes the mistakes in comma-separated flags, for the person who
// wrote them; nil if there are no mistakes. A wrong flag is ignored and makes no
// check fail. Unknown names are reported only if unknown is set: entries have
// flags of gettext and of other programs, check_flags should not.
func FlagErrors(flags string, unknown bool) []string {
	var all []string
	for flag := range splitFlags(flags) {
		name, value, valued := strings.Cut(flag, ":")
		if e := flagError(name, value, valued, unknown); e != "" && !slices.Contains(all, e) {
			all = append(all, e)
		}
	}
	return all
}

func flagError(name, value string, valued, unknown bool) string {
	values := flagValues(value)
	_, known := byFlag[name]
	ignored, ignores := strings.CutPrefix(name, "ignore-")
	switch {
	case name == "max-length":
		if n, err := strconv.Atoi(strings.TrimSpace(value)); err != nil || n < 0 {
			return fmt.Sprintf("%s:%s has no number of characters: write %s:100", name, value, name)
		}
	case name == "regex" && (!valued || value == ""), name == "placeholders" && (!valued || value == ""):
		return fmt.Sprintf("%s has no value: write %s:r\"…\"", name, name)
	case name == "regex":
		return expressionError(name, values[0].text)
	case name == "placeholders":
		for _, v := range values {
			if e := expressionError(name, v.text); v.regex && e != "" {
				return e
			}
		}
		if newPattern(values, false) == nil {
			return name + ": the values are too many or too long, none is looked for"
		}
	case name == "icu-flags":
		return icuFlagsError(name, values)
	case name == "icu-tag-prefix" && (len(values) != 1 || len(values[0].text) == 0 || len(values[0].text) > maxTagPrefix):
		return fmt.Sprintf("%s needs one value of up to %d bytes: write %s:\"x:\"", name, maxTagPrefix, name)
	case name == "replacements" && len(values)%2 != 0:
		return name + " needs pairs of old and new: the last one is left out"
	case known, name == "ignore-all-checks", slices.Contains(otherFlags(), name):
	case ignores && !slices.Contains(otherChecks(), ignored):
		return fmt.Sprintf("%s: there is no check %s (docs/checks.md lists them)", name, ignored)
	case !ignores && unknown:
		if _, ok := byFlag[dashed(name)]; ok {
			return fmt.Sprintf("%s is no flag: write %s", name, dashed(name))
		}
		return name + " is no flag of a check (docs/checks.md lists them)"
	}
	return ""
}

// expressionError says why a regular expression is ignored; "" if it is not.
func expressionError(flag, text string) string {
	if newExpression(text) != nil {
		return ""
	}
	if _, err := resyntax.Parse(text, resyntax.Perl); err != nil {
		return fmt.Sprintf("%s: %q is no regular expression of RE2 and is left out: %v", flag, text, err)
	}
	return fmt.Sprintf("%s: the regular expression is too large and is left out: %.60q", flag, text)
}

// icuFlagsError names an unknown value of icu-flags.
func icuFlagsError(flag string, values []flagValue) string {
	_, unknown := icuOptions(values)
	if unknown == nil {
		return ""
	}
	return fmt.Sprintf("%s: there is no %.60q, but %s", flag, unknown[0], strings.Join(icuOptionNames(), ", "))
}

// otherFlags are the known flags that turn no check on or off by themselves: flags
// of Weblate, and flags of gettext that are in every file.
func otherFlags() []string {
	return []string{
		"read-only", "forbidden", "terminology", "case-insensitive", "strict-same", "strict-format", "xml-text", "rst-text", "bbcode-text",
		"md-text", "dos-eol", "auto-java-messageformat", "accelerator-marker", "replacements", "priority", "variant",
		"icu-flags", "icu-tag-prefix", "max-size", "max-lines", "font-family", "font-size", "font-weight", "font-spacing", "discard",
		"max-length", "regex", "placeholders", "fuzzy", "no-wrap", "wrap", "range",
	}
}

// otherChecks are the names, as in flags, of checks that other releases of Weblate
// have or that need more than a PO file.
func otherChecks() []string {
	return []string{
		"max-size", "max-lines", "accelerator", "end-interrobang", "multiple-capital",
		"kabyle-characters", "objc-format", "laravel-format", "automattic-components-format", "xml-chars-around-tags", "rst-references",
		"rst-syntax", "asciidoc-markup", "safe-mdx", "source-max-length", "prohibited-initial-character", "fluent-parts",
		"fluent-references", "fluent-source-inner-html", "fluent-source-syntax", "fluent-target-inner-html", "fluent-target-syntax",
	}
}
