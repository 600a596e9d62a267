package edit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/plural"
)

// CheckEntry says why msgfmt -c would refuse a file with the entry, nil if it would
// not. It knows the rules of line feeds at both ends and of the formats c-format,
// objc-format, python-format, python-brace-format, perl-brace-format and qt-format
// (gettext 0.21, msgl-check.c and format-*.c); msgfmt checks further formats. Fuzzy and
// untranslated entries are no part of what msgfmt makes. formula is the file's plural
// formula, or nil.
func CheckEntry(e *poparse.Entry, formula *plural.Formula) error {
	if e.Fuzzy || e.Obsolete || len(e.Str) == 0 || e.Str[0] == "" {
		return nil
	}
	for i, str := range e.Str {
		if err := checkLineFeeds(e.ID, str); err != nil {
			return formError(e, i, err)
		}
	}
	return checkFormat(e, formula)
}

// checkFormat is the part of CheckEntry that is about formats.
func checkFormat(e *poparse.Entry, formula *plural.Formula) error {
	check := checkerOf(e.Flags)
	if check == nil {
		return nil
	}
	source := e.ID
	if e.HasPlural && len(e.Str) > 1 {
		source = e.IDPlural
	}
	often := oftenUsed(e, formula)
	for i, str := range e.Str {
		strict := !e.HasPlural || len(e.Str) == 1 || often == nil || often[i]
		if err := check(source, str, strict); err != nil {
			return formError(e, i, err)
		}
	}
	return nil
}

// Fits returns the function that tells whether texts of entries of a file fit one format of
// their source, as far as CheckEntry knows it.
func Fits(f *poparse.File) func(e *poparse.Entry, format string) bool {
	var formula *plural.Formula
	if forms, ok := f.PluralForms(); ok {
		formula, _ = plural.Compile(forms.Expression)
	}
	return func(e *poparse.Entry, format string) bool {
		one := *e
		one.Flags = []string{format}
		return checkFormat(&one, formula) == nil
	}
}

func formError(e *poparse.Entry, i int, err error) error {
	if e.HasPlural {
		return fmt.Errorf("msgstr[%d]: %w", i, err)
	}
	return fmt.Errorf("msgstr: %w", err)
}

func checkLineFeeds(id, str string) error {
	switch {
	case strings.HasPrefix(id, "\n") != strings.HasPrefix(str, "\n"):
		return errors.New("begins with a line feed and the msgid does not, or the other way round")
	case strings.HasSuffix(id, "\n") != strings.HasSuffix(str, "\n"):
		return errors.New("ends with a line feed and the msgid does not, or the other way round")
	}
	return nil
}

// checkerOf returns the check of the format that flags name, or nil.
func checkerOf(flags []string) func(source, target string, strict bool) error {
	for _, flag := range flags {
		switch flag {
		case "c-format", "objc-format":
			return checkC(flag == "objc-format")
		case "python-format":
			return func(source, target string, strict bool) error {
				return checkParsed(source, target, strict, parsePython)
			}
		case "python-brace-format":
			return checkPythonBrace
		case "perl-brace-format":
			return checkPerlBrace
		case "qt-format":
			return checkQt
		}
	}
	return nil
}

// oftenUsed says which plural forms stand for more than five of the numbers up to 1000:
// only in these must all arguments be used (msgl-check.c). It returns nil if every form
// counts as one.
func oftenUsed(e *poparse.Entry, formula *plural.Formula) []bool {
	const often = 5
	if !e.HasPlural || formula == nil {
		return nil
	}
	counts := make([]int, len(e.Str))
	for n := 0; n <= 1000; n++ {
		if form := formula.Eval(n); form >= 0 && form < len(counts) {
			counts[form]++
		}
	}
	return catalog.Each(counts, func(n *int) bool { return *n > often })
}

// CheckUnit is CheckEntry for a string with another text.
func CheckUnit(u *catalog.Unit, text Text, formula *plural.Formula) error {
	sources := catalog.SplitForms(u.Source)
	e := poparse.Entry{ID: sources[0], HasPlural: len(sources) > 1, Str: catalog.SplitForms(text.Target), Fuzzy: text.State.Fuzzy()}
	if e.HasPlural {
		e.IDPlural = sources[1]
	}
	e.Flags = catalog.Each(strings.Split(u.Flags, ","), func(flag *string) string { return strings.TrimSpace(*flag) })
	return CheckEntry(&e, formula)
}

var (
	errMixed   = errors.New("mixes numbered or named arguments with others")
	errInvalid = errors.New("has an invalid format directive")
)

// directives are the arguments that a format string uses.
type directives struct {
	named     map[string]string // types by name
	positions []string          // types by position, "" for an unused one
}

// compare compares the arguments of a source and a target. With strict the target must
// use all.
func (source directives) compare(target directives, strict bool) error {
	for _, name := range slices.Sorted(maps.Keys(target.named)) {
		kind, ok := source.named[name]
		switch {
		case !ok:
			return fmt.Errorf("uses %s, which the msgid does not", name)
		case kind != target.named[name]:
			return fmt.Errorf("uses %s as another type than the msgid", name)
		}
	}
	if strict {
		for _, name := range slices.Sorted(maps.Keys(source.named)) {
			if _, ok := target.named[name]; !ok {
				return fmt.Errorf("does not use %s", name)
			}
		}
	}
	n, m := len(source.positions), len(target.positions)
	if strict && n != m || m > n {
		return fmt.Errorf("uses %d arguments, the msgid %d", m, n)
	}
	for i := range m {
		if source.positions[i] != target.positions[i] {
			return fmt.Errorf("uses argument %d as another type than the msgid", i+1)
		}
	}
	return nil
}

// checkParsed compares strings that parse reads; a source that is no format string
// cannot be compared.
func checkParsed(source, target string, strict bool, parse func(s string, translated bool) (directives, error)) error {
	want, err := parse(source, false)
	if err != nil {
		return nil
	}
	got, err := parse(target, true)
	if err != nil {
		return err
	}
	return want.compare(got, strict)
}

// printf is a directive of printf after its "%": the number of its argument, a width and
// a precision, each of which may be an argument or a numbered one, and a macro of
// <inttypes.h> or a size and a conversion (format-c-parse.h).
func printf(flags string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)^(?:(\d+)\$)?[` + flags + `]*(?:(\*)(?:(\d+)\$)?|\d*)(?:\.(?:(\*)(?:(\d+)\$)?|\d*))?(?:(<[^>]*>)|([hlLqjzt]*)(.))`)
}

// The flag I is for translators.
var printfSource, printfTarget = printf("-+ #0'"), printf("-+ #0'I")

// checkC checks printf directives.
func checkC(objc bool) func(source, target string, strict bool) error {
	return func(source, target string, strict bool) error {
		return checkParsed(source, target, strict, func(s string, translated bool) (directives, error) {
			if translated {
				return parseC(s, printfTarget, objc)
			}
			return parseC(s, printfSource, objc)
		})
	}
}

func parseC(s string, directive *regexp.Regexp, objc bool) (directives, error) {
	p := cParser{kinds: map[int]string{}}
	for _, rest, ok := strings.Cut(s, "%"); ok; _, rest, ok = strings.Cut(s, "%") {
		m := directive.FindStringSubmatch(rest)
		if m == nil {
			return directives{}, errInvalid
		}
		kind, ok := "int"+m[6], true
		if m[6] == "" {
			kind, ok = cKind(m[7], m[8], objc)
		}
		if !ok {
			return directives{}, errInvalid
		}
		if err := cmp.Or(p.use(m[2] != "", m[3], "int"), p.use(m[4] != "", m[5], "int"), p.use(kind != "", m[1], kind)); err != nil {
			return directives{}, err
		}
		s = rest[len(m[0]):]
	}
	d := directives{positions: make([]string, len(p.kinds))}
	for number, kind := range p.kinds {
		if number > len(d.positions) {
			return directives{}, errInvalid // an argument is left out
		}
		d.positions[number-1] = kind
	}
	return d, nil
}

// cParser collects arguments by position.
type cParser struct {
	numbered, unnumbered bool
	kinds                map[int]string
	next                 int
}

// use notes an argument; number is "" for the next one. Without used it only has the
// number looked at.
func (p *cParser) use(used bool, number, kind string) error {
	n, err := strconv.Atoi(cmp.Or(number, "1"))
	switch {
	case err != nil || n < 1 || n > 1000:
		return errInvalid
	case !used:
		return nil
	case number == "":
		p.next++
		n = p.next
	}
	p.numbered, p.unnumbered = p.numbered || number != "", p.unnumbered || number == ""
	if p.numbered && p.unnumbered {
		return errMixed
	}
	if was, ok := p.kinds[n]; ok && was != kind {
		return errInvalid
	}
	p.kinds[n] = kind
	return nil
}

// cKind returns the type of an argument, "" for none.
func cKind(size, conversion string, objc bool) (kind string, ok bool) {
	const integers = " h hh l ll L q j z t "
	sizes := ""
	switch conversion {
	case "%":
	case "m":
		return "", true
	case "d", "i":
		kind, sizes = "int", integers
	case "o", "u", "x", "X":
		kind, sizes = "unsigned", integers
	case "n":
		kind, sizes = "count", integers
	case "f", "F", "e", "E", "g", "G", "a", "A":
		if kind, sizes = "double", " L "; size == "l" {
			size = ""
		}
	case "c":
		kind, sizes = "char", " l "
	case "s":
		kind, sizes = "string", " l "
	case "C":
		return "charl", size == ""
	case "S":
		return "stringl", size == ""
	case "p":
		kind = "pointer"
	case "@":
		return "object", objc && size == ""
	default:
		return "", false
	}
	return kind + size, size == "" || strings.Contains(sizes, " "+size+" ")
}

// pythonDirective is a directive of Python's % operator after its "%" and its name
// (format-python.c).
var pythonDirective = regexp.MustCompile(`^[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(?:(%)|(c)|([sr])|([diuoxX])|([eEfFgG]))`)

// pythonKinds are the types of its conversions; a percent sign uses no argument.
var pythonKinds = [...]string{"percent sign", "char", "string", "int", "float"}

func parsePython(s string, _ bool) (directives, error) {
	d := directives{named: map[string]string{}}
	for _, rest, ok := strings.Cut(s, "%"); ok; _, rest, ok = strings.Cut(s, "%") {
		n, closed := nameInParentheses(rest)
		m := pythonDirective.FindStringSubmatch(rest[n:])
		if !closed || m == nil {
			return directives{}, errInvalid
		}
		for _, number := range m[1:3] {
			if number == "*" {
				d.positions = append(d.positions, "int")
			}
		}
		kind := pythonKinds[slices.IndexFunc(m[3:], func(group string) bool { return group != "" })]
		switch {
		case n > 0:
			name := rest[1 : n-1]
			if was, ok := d.named[name]; ok && was != kind {
				return directives{}, errInvalid
			}
			d.named[name] = kind
		case kind != pythonKinds[0]:
			d.positions = append(d.positions, kind)
		}
		s = rest[n+len(m[0]):]
	}
	if len(d.named) > 0 && len(d.positions) > 0 {
		return directives{}, errMixed
	}
	return d, nil
}

// nameInParentheses returns the length of "(name)" at the start of s, 0 without one;
// false if it is not closed.
func nameInParentheses(s string) (int, bool) {
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 {
			if i == 0 {
				return 0, true
			}
			return i + 1, true
		}
	}
	return 0, s == ""
}

// checkPythonBrace checks the fields of str.format. Where not all must be used, others
// may be.
func checkPythonBrace(source, target string, strict bool) error {
	return checkParsed(source, target, strict, func(s string, _ bool) (directives, error) {
		names, err := pythonBraces(s)
		if !strict {
			names = nil
		}
		return directives{named: names}, err
	})
}

// A field of str.format that gettext knows is a name or a number with attributes and
// items, and a format that is another such field or
// [[fill]align][sign][#][0][width][.precision][type] (format-python-brace.c).
const fieldName = `(?:[A-Za-z_]\w*|\d+)(?:\.[A-Za-z_]\w*|\[(?:[A-Za-z_]\w*|\d+)\])*`

var (
	pythonField  = regexp.MustCompile(`^` + fieldName + `(?::(?:\{` + fieldName + `\})?)?`)
	pythonFormat = regexp.MustCompile(`^[<>=^]?[-+ ]?#?0?\d*(?:\.\d*)?[bcdoxXneEfFgG%]?`)
)

// pythonBraces finds the fields of str.format.
func pythonBraces(s string) (map[string]string, error) {
	names := map[string]string{}
	for {
		_, rest, ok := strings.Cut(s, "{")
		if !ok {
			return names, nil
		}
		if s, ok = strings.CutPrefix(rest, "{"); ok {
			continue
		}
		n := len(pythonField.FindString(rest))
		if strings.HasSuffix(rest[:n], ":") {
			if n+1 < len(rest) && strings.IndexByte("<>=^", rest[n+1]) >= 0 {
				n++ // the character that fills
			}
			n += len(pythonFormat.FindString(rest[n:]))
		}
		if n == 0 || !strings.HasPrefix(rest[n:], "}") {
			return nil, errInvalid
		}
		names["{"+rest[:n]+"}"] = ""
		s = rest[n:]
	}
}

var (
	perlField = regexp.MustCompile(`\{[A-Za-z_]\w*\}`)
	qtNumber  = regexp.MustCompile(`%(L?)(\d\d?)`)
)

// checkPerlBrace checks "{name}". A translation may have further ones
// (format-perl-brace.c).
func checkPerlBrace(source, target string, strict bool) error {
	for _, name := range slices.Sorted(slices.Values(perlField.FindAllString(source, -1))) {
		if strict && !strings.Contains(target, name) {
			return fmt.Errorf("does not use %s", name)
		}
	}
	return nil
}

// checkQt checks "%1" to "%99" (format-qt.c).
func checkQt(source, target string, _ bool) error {
	want, simple := qtNumbers(source)
	got, still := qtNumbers(target)
	if simple && !still {
		return errors.New("uses the flag L or a number of two digits, which the msgid does not")
	}
	return directives{named: want}.compare(directives{named: got}, true)
}

// qtNumbers finds the arguments of a string. simple is false if one has the flag L or
// two digits.
func qtNumbers(s string) (names map[string]string, simple bool) {
	names, simple = map[string]string{}, true
	for _, m := range qtNumber.FindAllStringSubmatch(s, -1) {
		number, _ := strconv.Atoi(m[2])
		names["%"+strconv.Itoa(number)] = ""
		simple = simple && m[1] == "" && len(m[2]) == 1
	}
	return names, simple
}
