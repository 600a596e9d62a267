package edit

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

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

// checkC checks printf directives (format-c-parse.h).
func checkC(objc bool) func(source, target string, strict bool) error {
	return func(source, target string, strict bool) error {
		return checkParsed(source, target, strict, func(s string, translated bool) (directives, error) {
			// The flag I is for translators (format-c-parse.h).
			flags := " +-#0'"
			if translated {
				flags += "I"
			}
			return parseC(s, flags, objc)
		})
	}
}

// cParser collects arguments by position.
type cParser struct {
	numbered, unnumbered bool
	kinds                map[int]string
	next                 int
}

// use notes an argument; number is 0 for the next one.
func (p *cParser) use(number int, kind string) error {
	if number > 0 {
		p.numbered = true
	} else {
		p.unnumbered = true
		p.next++
		number = p.next
	}
	if p.numbered && p.unnumbered {
		return errMixed
	}
	if was, ok := p.kinds[number]; ok && was != kind {
		return errInvalid
	}
	p.kinds[number] = kind
	return nil
}

func parseC(s, flags string, objc bool) (directives, error) {
	p := cParser{kinds: map[int]string{}}
	for {
		_, rest, ok := strings.Cut(s, "%")
		if !ok {
			break
		}
		n, err := p.directive(rest, flags, objc)
		if err != nil {
			return directives{}, err
		}
		s = rest[n:]
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

// directive reads a directive after its % and returns its length.
func (p *cParser) directive(s, flags string, objc bool) (int, error) {
	i := 0
	number, n, ok := argument(s)
	if !ok {
		return 0, errInvalid
	}
	i += n
	i += span(s[i:], flags)
	n, err := p.width(s[i:])
	if err != nil {
		return 0, err
	}
	i += n
	if strings.HasPrefix(s[i:], ".") {
		i++
		if n, err = p.width(s[i:]); err != nil {
			return 0, err
		}
		i += n
	}
	size := ""
	if strings.HasPrefix(s[i:], "<") { // <inttypes.h>
		end := strings.IndexByte(s[i:], '>')
		if end < 0 {
			return 0, errInvalid
		}
		size, i = s[i:i+end+1], i+end+1
		return i, p.use(number, "int"+size)
	}
	n = span(s[i:], "hlLqjzt")
	size, i = s[i:i+n], i+n
	if i == len(s) {
		return 0, errInvalid
	}
	kind, ok := cKind(size, s[i], objc)
	if !ok {
		return 0, errInvalid
	}
	if kind != "" {
		err = p.use(number, kind)
	}
	return i + 1, err
}

// width reads a width or precision: digits, or an argument.
func (p *cParser) width(s string) (int, error) {
	if !strings.HasPrefix(s, "*") {
		return span(s, "0123456789"), nil
	}
	number, n, ok := argument(s[1:])
	if !ok {
		return 0, errInvalid
	}
	return 1 + n, p.use(number, "int")
}

// argument reads "3$" and returns the number and its length, 0 and 0 without one.
func argument(s string) (number, length int, ok bool) {
	n := span(s, "0123456789")
	if n == 0 || n == len(s) || s[n] != '$' {
		return 0, 0, true
	}
	number, err := strconv.Atoi(s[:n])
	return number, n + 1, err == nil && number > 0 && number <= 1000
}

// cKind returns the type of an argument, "" for none.
func cKind(size string, conversion byte, objc bool) (kind string, ok bool) {
	switch conversion {
	case '%', 'm':
		return "", size == "" || conversion == 'm'
	case 'd', 'i':
		return "int" + size, validSize(size)
	case 'o', 'u', 'x', 'X':
		return "unsigned" + size, validSize(size)
	case 'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A':
		if size == "l" {
			size = ""
		}
		return "double" + size, size == "" || size == "L"
	case 'c':
		return "char" + size, size == "" || size == "l"
	case 'C':
		return "charl", size == ""
	case 's':
		return "string" + size, size == "" || size == "l"
	case 'S':
		return "stringl", size == ""
	case 'p':
		return "pointer", size == ""
	case 'n':
		return "count" + size, validSize(size)
	case '@':
		return "object", objc && size == ""
	}
	return "", false
}

func validSize(size string) bool {
	switch size {
	case "", "h", "hh", "l", "ll", "L", "q", "j", "z", "t":
		return true
	}
	return false
}

// span returns the length of the start of s that has only characters of set.
func span(s, set string) int {
	n := 0
	for n < len(s) && strings.IndexByte(set, s[n]) >= 0 {
		n++
	}
	return n
}

// checkPython checks directives of Python's % operator (format-python.c).
func checkPython(source, target string, strict bool) error {
	return checkParsed(source, target, strict, parsePython)
}

func parsePython(s string, _ bool) (directives, error) {
	d := directives{named: map[string]string{}}
	for {
		_, rest, ok := strings.Cut(s, "%")
		if !ok {
			break
		}
		n, err := d.python(rest)
		if err != nil {
			return directives{}, err
		}
		s = rest[n:]
	}
	if len(d.named) > 0 && len(d.positions) > 0 {
		return directives{}, errMixed
	}
	return d, nil
}

// python reads a directive after its % and returns its length.
func (d *directives) python(s string) (int, error) {
	i, ok := nameInParentheses(s)
	if !ok {
		return 0, errInvalid
	}
	name := s[:i]
	i += span(s[i:], "-+ #0")
	i += d.number(s[i:])
	if strings.HasPrefix(s[i:], ".") {
		i++
		i += d.number(s[i:])
	}
	if i < len(s) && strings.IndexByte("hlL", s[i]) >= 0 {
		i++
	}
	if i == len(s) {
		return 0, errInvalid
	}
	kind := pythonKind(s[i])
	switch {
	case kind == "":
		return 0, errInvalid
	case name != "":
		name = name[1 : len(name)-1]
		if was, ok := d.named[name]; ok && was != kind {
			return 0, errInvalid
		}
		d.named[name] = kind
	case kind != "any":
		d.positions = append(d.positions, kind)
	}
	return i + 1, nil
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

// number reads a width or precision, which may be an argument, and returns its length.
func (d *directives) number(s string) int {
	if strings.HasPrefix(s, "*") {
		d.positions = append(d.positions, "int")
		return 1
	}
	return span(s, "0123456789")
}

// pythonKind returns the type of an argument, "any" for a percent sign, "" if there is
// no such conversion.
func pythonKind(conversion byte) string {
	switch conversion {
	case '%':
		return "any"
	case 'c':
		return "char"
	case 's', 'r':
		return "string"
	case 'i', 'd', 'u', 'o', 'x', 'X':
		return "int"
	case 'e', 'E', 'f', 'F', 'g', 'G':
		return "float"
	}
	return ""
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

// checkPerlBrace checks "{name}". A translation may have further ones
// (format-perl-brace.c).
func checkPerlBrace(source, target string, strict bool) error {
	want, got := perlBraces(source), perlBraces(target)
	maps.DeleteFunc(got, func(name, _ string) bool { _, ok := want[name]; return !ok })
	return directives{named: want}.compare(directives{named: got}, strict)
}

// perlBraces finds "{name}".
func perlBraces(s string) map[string]string {
	names := map[string]string{}
	for {
		_, rest, ok := strings.Cut(s, "{")
		if !ok {
			return names
		}
		if n := identifier(rest); n > 0 && strings.HasPrefix(rest[n:], "}") {
			names["{"+rest[:n]+"}"] = ""
			rest = rest[n+1:]
		}
		s = rest
	}
}

// identifier returns the length of the name at the start of s.
func identifier(s string) int {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
	if s == "" || strings.IndexByte(letters, s[0]) < 0 {
		return 0
	}
	return span(s, letters+"0123456789")
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
	for {
		_, rest, ok := strings.Cut(s, "%")
		if !ok {
			return names, simple
		}
		s = rest
		digits := strings.TrimPrefix(rest, "L")
		n := min(2, span(digits, "0123456789"))
		if n == 0 {
			continue
		}
		number, _ := strconv.Atoi(digits[:n])
		names["%"+strconv.Itoa(number)] = ""
		simple = simple && n == 1 && len(digits) == len(rest)
		s = digits[n:]
	}
}

// pythonBraces finds the fields of str.format that gettext knows: a name or a number
// with attributes and items, and a format that is another such field or the standard
// one (format-python-brace.c).
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
		n := fieldName(rest)
		if n > 0 && strings.HasPrefix(rest[n:], ":") {
			n += 1 + fieldFormat(rest[n+1:])
		}
		if n == 0 || !strings.HasPrefix(rest[n:], "}") {
			return nil, errInvalid
		}
		names["{"+rest[:n]+"}"] = ""
		s = rest[n:]
	}
}

// fieldName returns the length of the name at the start of s, with attributes and
// items; 0 if there is none.
func fieldName(s string) int {
	name := func(s string) int {
		if n := identifier(s); n > 0 {
			return n
		}
		return span(s, "0123456789")
	}
	i := name(s)
	for i > 0 && i < len(s) {
		n := 0
		switch s[i] {
		case '.':
			if n = identifier(s[i+1:]); n == 0 {
				return 0
			}
		case '[':
			if n = name(s[i+1:]); n == 0 || !strings.HasPrefix(s[i+1+n:], "]") {
				return 0
			}
			n++
		default:
			return i
		}
		i += 1 + n
	}
	return i
}

// fieldFormat returns the length of the format at the start of s:
// [[fill]align][sign][#][0][width][.precision][type], or a field without a format.
func fieldFormat(s string) int {
	if rest, ok := strings.CutPrefix(s, "{"); ok {
		if n := fieldName(rest); n > 0 && strings.HasPrefix(rest[n:], "}") {
			return n + 2
		}
		return 0
	}
	const align = "<>=^"
	i := 0
	if len(s) > 1 && strings.IndexByte(align, s[1]) >= 0 {
		i = 2
	} else {
		i = min(1, span(s, align))
	}
	i += min(1, span(s[i:], "+- "))
	i += min(1, span(s[i:], "#"))
	i += min(1, span(s[i:], "0"))
	i += span(s[i:], "0123456789")
	if strings.HasPrefix(s[i:], ".") {
		i += 1 + span(s[i+1:], "0123456789")
	}
	return i + min(1, span(s[i:], "bcdoxXneEfFgG%"))
}
