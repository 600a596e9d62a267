package checks

import (
	"strings"
	"unicode/utf8"
)

// printf is the notation of C's printf with the given flag characters; with named,
// a key in parentheses as Python has it.
func printf(flags string, named bool) syntax {
	return syntax{"%", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		p := placeholder{from: i, position: true}
		i++
		if named {
			if n := key(t, i); n > 0 {
				i, p.position = n, false
			}
		} else if n := digits(s, i); n > i && n < len(s) && s[n] == '$' {
			i, p.position = n+1, false
		}
		i = digits(s, skip(s, i, flags))
		if i < len(s) && s[i] == '.' {
			if n := digits(s, i+1); n > i+1 {
				i = n
			}
		}
		switch {
		case strings.HasPrefix(s[i:], "hh"), strings.HasPrefix(s[i:], "ll"):
			i += 2
		case i < len(s) && (s[i] == 'h' || s[i] == 'l'):
			i++
		}
		if i < len(s) && (isLetter(s[i]) || s[i] == '%') {
			i++
		}
		p.to = i
		p.text = s[p.from+1 : i]
		p.escape = p.text == "%"
		if strings.IndexByte(p.text, '\'') >= 0 {
			p.text = strings.ReplaceAll(p.text, "'", "")
		}
		return p, true
	}}
}

// key returns the position after "(key)" at byte i, or 0.
func key(t *subject, i int) int {
	if i >= len(t.s) || t.s[i] != '(' {
		return 0
	}
	if to := t.closing(closeRound, i); to > i+1 {
		return to + 1
	}
	return 0
}

// javaPrintf is the notation of java.util.Formatter.
func javaPrintf() syntax {
	return syntax{"%", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		p := placeholder{from: i, position: true}
		i++
		if i >= len(s) || s[i] == ' ' {
			return p, false
		}
		if n := digits(s, i); n > i && n < len(s) && s[n] == '$' {
			i, p.position = n+1, false
		}
		i = digits(s, skip(s, i, "-.#+0,("))
		if i < len(s) && s[i] == '.' {
			i = digits(s, i+1)
		}
		switch {
		case i+1 < len(s) && (s[i] == 't' || s[i] == 'T') && isLetter(s[i+1]):
			i += 2
		case i < len(s) && (isLetter(s[i]) || s[i] == '%'):
			i++
		default:
			return p, false
		}
		p.to, p.text = i, s[p.from+1:i]
		p.escape = p.text == "%"
		return p, true
	}}
}

// qt is the notation of QString::arg; with plural, of the number of a plural.
func qt(plural bool) syntax {
	return syntax{"%", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		j := i + 1
		if j < len(s) && s[j] == 'L' {
			j++
		}
		k := min(digits(s, j), j+2)
		if plural {
			if k = j; j < len(s) && s[j] == 'n' {
				k++
			}
		}
		return placeholder{text: s[i+1 : k], from: i, to: k}, k > j
	}}
}

// objectPascal is the notation of Object Pascal's Format.
func objectPascal() syntax {
	return syntax{"%", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		p := placeholder{from: i, position: true}
		i++
		if n := digitsOrStar(s, i); n > i && n < len(s) && s[n] == ':' {
			i, p.position = n+1, false
		}
		i = digitsOrStar(s, skip(s, i, "-"))
		if i < len(s) && s[i] == '.' {
			i = digitsOrStar(s, i+1)
		}
		if i == len(s) || strings.IndexByte("defgmnpsuxDEFGMNPSUX%", s[i]) < 0 {
			return p, false
		}
		p.to, p.text = i+1, s[p.from+1:i+1]
		p.escape = p.text == "%"
		return p, true
	}}
}

func digitsOrStar(s string, i int) int {
	if i < len(s) && s[i] == '*' {
		return i + 1
	}
	return digits(s, i)
}

// ruby is the notation of printf, with %<name>x and %{name}.
func ruby() syntax {
	c := printf(" +#-*", false)
	return syntax{"%", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		if i+1 == len(s) || s[i+1] != '{' && s[i+1] != '<' {
			return c.scan(t, i)
		}
		closing := closeBrace
		if s[i+1] == '<' {
			closing = closeAngle
		}
		to := t.closing(closing, i) + 1
		if to < i+4 {
			return placeholder{}, false
		}
		if closing == closeAngle && to < len(s) && isLetter(s[to]) {
			to++
		}
		return placeholder{text: s[i+1 : to], from: i, to: to}, true
	}}
}

// scheme is the notation of SRFI 28 and Guile's format.
func scheme() syntax {
	return syntax{"~", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		p := placeholder{from: i, position: true}
		i++
		if n := digits(s, i); strings.HasPrefix(s[n:], "@*~") {
			i, p.position = n+len("@*~"), false
		}
		i = schemeParameters(s, i)
		i = skip(s, i, ":@")
		if i == len(s) || !isLetter(s[i]) && strings.IndexByte("%&|~*?()[]{};^!_/\n$", s[i]) < 0 {
			return placeholder{}, false
		}
		p.to, p.text = i+1, s[p.from+1:i+1]
		p.escape = p.text == "~"
		return p, true
	}}
}

// schemeParameters skips numbers, 'characters and their commas.
func schemeParameters(s string, i int) int {
	for i < len(s) {
		switch {
		case isDigit(s[i]), s[i] == ',', s[i] == '#', s[i] == '+', s[i] == '-':
			i++
		case s[i] == '\'' && i+1 < len(s):
			_, n := utf8.DecodeRuneInString(s[i+1:])
			i += 1 + n
		default:
			return i
		}
	}
	return i
}
