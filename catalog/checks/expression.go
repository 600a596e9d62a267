package checks

import (
	"regexp"
	resyntax "regexp/syntax"
	"strings"
)

// maxExpression bounds the regular expressions of a flag, in about the number of
// instructions that they compile to. Each character of a string may cost that many
// steps, and each instruction takes fifty bytes. ".{1,500}" is about the largest.
const maxExpression = 1000

// expression is a regular expression of a flag.
type expression struct {
	*regexp.Regexp
	size int // in about instructions
}

// newExpression compiles a regular expression of RE2. It returns nil if the
// expression is invalid or too large.
func newExpression(text string) *expression {
	if len(text) > 4*maxExpression {
		return nil
	}
	parsed, err := resyntax.Parse(text, resyntax.Perl)
	if err != nil {
		return nil
	}
	size := sizeOf(parsed)
	if size > maxExpression {
		return nil
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return &expression{compiled, size}
}

// sizeOf estimates the number of instructions of an expression. It stops counting
// far above maxExpression.
func sizeOf(e *resyntax.Regexp) int {
	parts := 0
	for _, part := range e.Sub {
		parts += sizeOf(part)
	}
	size := parts + 1
	switch e.Op {
	case resyntax.OpLiteral:
		size = len(e.Rune)
	case resyntax.OpCharClass:
		size = 1 + len(e.Rune)/64 // pairs of bounds, which are searched
	case resyntax.OpConcat:
		size = parts
	case resyntax.OpCapture, resyntax.OpAlternate:
		size = parts + 1 + len(e.Sub)
	case resyntax.OpRepeat: // e{2,4} is ee(e(e)?)?, e{2,} is ee+
		size = e.Min*parts + max(e.Max-e.Min, 0)*(parts+1) + 1
	}
	return min(size, 100*maxExpression)
}

// quoteAll returns the expression that matches any of the values.
func quoteAll(values []flagValue, fold bool) string {
	var parts []string
	for _, v := range values {
		switch {
		case v.text == "":
		case !v.regex:
			parts = append(parts, regexp.QuoteMeta(v.text))
		case newExpression(v.text) != nil:
			parts = append(parts, "(?:"+v.text+")")
		}
	}
	all := strings.Join(parts, "|")
	if fold && all != "" {
		all = "(?i:" + all + ")"
	}
	return all
}
