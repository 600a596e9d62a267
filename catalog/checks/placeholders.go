package checks

import (
	"net/netip"
	"regexp"
	resyntax "regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog/lang"
	"github.com/repoglot/repoglot/poparse/plural"
)

// pattern finds the placeholders of the flag placeholders.
type pattern struct {
	*expression
	literal bool // the flag has no regular expression
	fold    bool // flag case-insensitive
}

// newPattern makes one pattern of all values. Invalid regular expressions are left
// out. It returns nil if no value is left or they are too large together.
func newPattern(values []flagValue, fold bool) *pattern {
	all := quoteAll(values, fold)
	if all == "" {
		return nil
	}
	p := &pattern{expression: newExpression(all), literal: true, fold: fold}
	for _, v := range values {
		p.literal = p.literal && !v.regex
	}
	if p.expression == nil {
		return nil
	}
	return p
}

// Each search for the next match may read to the end of the string, even if the
// match is short. All searches in a string together may cost searchSteps for each
// of its bytes, and searchFree. Only hostile expressions and strings need more;
// they are not checked.
const (
	searchSteps = 2 * maxExpression
	searchFree  = 1 << 20
)

// find appends the matches in s; false if it gave up.
func (p *pattern) find(s string, into []placeholder) ([]placeholder, bool) {
	budget := searchSteps*len(s) + searchFree
	for at := 0; at <= len(s); {
		if budget -= (len(s) - at) * p.size; budget < 0 && !p.literal {
			return nil, false
		}
		m := p.FindStringIndex(s[at:])
		if m == nil {
			break
		}
		from, to := at+m[0], at+m[1]
		if from == to { // an empty match is no placeholder
			at = to + 1
			continue
		}
		if len(into) == maxMarks {
			return nil, false
		}
		text := s[from:to]
		if p.fold {
			text = strings.ToLower(text)
		}
		into = append(into, placeholder{text: text, from: from, to: to})
		at = to
	}
	return into, true
}

// holderSource returns the source form whose placeholders of the flag the targets are
// compared with: the last one if the first has none.
func (r *run) holderSource(int) int {
	last := len(r.unit.Sources) - 1
	if last == 0 {
		return 0
	}
	if found, ok := r.flags.holders.find(r.unit.Sources[0], r.left[:0]); !ok || len(found) > 0 {
		return 0
	}
	return last
}

// placeholders compares the sets of the flag's placeholders in source and target.
func placeholders(r *run, source, target string) hit {
	expected, ok := r.flags.holders.find(source, r.left[:0])
	found, okTarget := r.flags.holders.find(target, r.right[:0])
	r.left, r.right = expected, found
	missing, extra := pairUp(expected, found, true)
	f := r.form(r.at)
	if !ok || !okTarget || extra == 0 && (missing == 0 || f.single || f.zeroOrOne) {
		return hit{}
	}
	return r.onlyIn(expected, found, target)
}

// regex fails for each form that does not match the flag's expression.
func regex(r *run, _, t string) hit {
	return hit{failed: !r.flags.regex.MatchString(t), target: Span{0, len(t)}}
}

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
	size, err := ExpressionSize(text)
	if err != nil || size > maxExpression {
		return nil
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		return nil
	}
	return &expression{compiled, size}
}

// ExpressionSize estimates the number of instructions that a regular expression of RE2
// compiles to, without doing that: repetitions multiply.
func ExpressionSize(text string) (int, error) {
	parsed, err := resyntax.Parse(text, resyntax.Perl)
	if err != nil {
		return 0, err
	}
	return sizeOf(parsed), nil
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

// plurals fails if some forms are translated and others are not.
func plurals(r *run, _, t string) hit {
	some := len(r.unit.Sources) > 1 && slices.ContainsFunc(r.unit.Targets, func(target string) bool { return target != "" })
	return hit{failed: some && t == ""}
}

// samePlurals fails if all of several forms are equal.
func samePlurals(r *run, _, t string) hit {
	several := len(r.unit.Sources) > 1 && len(r.unit.Targets) > 1 && t != ""
	return hit{failed: several && !slices.ContainsFunc(r.unit.Targets, func(target string) bool { return target != t }), target: Span{0, len(t)}}
}

// form is one plural form of the target's rule.
type form struct {
	source    int  // the source form that it is compared with; -1: the last
	single    bool // one number only has this form
	zeroOrOne bool // 0 and 1 have this form, and no other number
}

// sampled is up to which number the rule is evaluated. Some round numbers follow,
// since some rules have a form for millions only.
const sampled = 1200

// pairForms describes each form of the rule target, as Weblate pairs plural forms.
func pairForms(target, source lang.Plural) []form {
	number := min(max(target.Number, 1), lang.MaxForms)
	forms := make([]form, number)
	same := target.Formula == source.Formula && target.Number == source.Number
	rule, err := plural.Compile(target.Formula)
	from, sourceErr := plural.Compile(source.Formula)
	var covers [lang.MaxForms][]int
	for n := 0; n < sampled+3 && err == nil; n++ {
		value := n
		if n >= sampled {
			value = []int{10_000, 100_000, 1_000_000}[n-sampled]
		}
		if i := rule.Eval(value); i >= 0 && i < number && len(covers[i]) < 3 {
			covers[i] = append(covers[i], value)
		}
	}
	for i := range forms {
		c := covers[i]
		forms[i] = form{source: -1, single: len(c) == 1, zeroOrOne: len(c) == 2 && c[0] == 0 && c[1] == 1}
		switch {
		case same:
			forms[i].source = i
		case len(c) == 1 && sourceErr == nil:
			forms[i].source = from.Eval(c[0])
		}
	}
	return forms
}

// sourceForm returns the source form that target form i is compared with.
func (r *run) sourceForm(i int) int {
	last := len(r.unit.Sources) - 1
	if last == 0 || len(r.unit.Sources) != r.set.sources || len(r.unit.Targets) != len(r.set.forms) {
		return last
	}
	if k := r.set.forms[i].source; k >= 0 && k <= last {
		return k
	}
	return last
}

// form returns the description of target form i; the zero form if the rule has no
// such form.
func (r *run) form(i int) form {
	if len(r.unit.Targets) > 1 && i < len(r.set.forms) {
		return r.set.forms[i]
	}
	return form{}
}

// maxURL and maxHost bound the lengths of an address and of its host, in bytes.
const (
	maxURL  = 2048
	maxHost = 253
)

// checkURL fails if the translation is no address.
func checkURL(_ *run, s, t string) hit {
	if s == "" || isURL(t) {
		return hit{}
	}
	return hit{failed: true, source: Span{0, len(s)}, target: Span{0, len(t)}}
}

// isURL reports whether s is an address of http, https, ftp or ftps with a possible
// host.
func isURL(s string) bool {
	if len(s) > maxURL || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsSpace) || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	scheme, rest, ok := strings.Cut(s, "://")
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp", "ftps":
	default:
		return false
	}
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		rest = rest[:n]
	}
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		if strings.ContainsAny(rest[:i], "@/") || strings.Count(rest[:i], ":") > 1 {
			return false
		}
		rest = rest[i+1:]
	}
	return ok && isHostPort(rest)
}

func isHostPort(s string) bool {
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		host, port = s[:i], s[i+1:]
		if len(port) < 1 || len(port) > 5 || digits(port, 0) != len(port) {
			return false
		}
	}
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		a, err := netip.ParseAddr(host[1 : len(host)-1])
		return err == nil && a.Is6() && a.Zone() == ""
	}
	return isHost(host)
}

// isHost reports whether host is an IPv4 address, localhost, or a name whose top
// domain is no number.
func isHost(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Is4()
	}
	host = strings.TrimSuffix(host, ".")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	labels, top := 0, ""
	for label := range strings.SplitSeq(host, ".") {
		if !isLabel(label) {
			return false
		}
		labels++
		top = label
	}
	return labels > 1 && len(host) <= maxHost && utf8.RuneCountInString(top) > 1 &&
		(strings.HasPrefix(strings.ToLower(top), "xn--") || !strings.ContainsFunc(top, unicode.IsDigit))
}

// isLabel reports whether label can be a part of a host name between two dots.
func isLabel(label string) bool {
	if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	return !strings.ContainsFunc(label, func(c rune) bool {
		return c != '-' && c < utf8.RuneSelf && !isWord(byte(c)) || c == '_'
	})
}
