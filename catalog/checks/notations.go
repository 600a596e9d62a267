package checks

import (
	"strings"
	"unicode/utf8"
)

// braceNumber is {0} of C# and Java's MessageFormat, with what may follow the
// number up to the bracket.
func braceNumber(after string) syntax {
	return syntax{"{", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		j := digits(s, i+1)
		if j == i+1 || j == len(s) || s[j] != '}' && strings.IndexByte(after, s[j]) < 0 {
			return placeholder{}, false
		}
		n := strings.IndexAny(s[j:], "{}")
		if n < 0 || s[j+n] != '}' {
			return placeholder{}, false
		}
		return placeholder{text: s[i+1 : j+n], from: i, to: j + n + 1}, true
	}}
}

// objectPascal is the notation of Format.
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

// ruby is printf's notation with %<name>x and %{name}.
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

// between is what stands between two marks, blanks aside.
func between(opening string, closing closer) syntax {
	return syntax{opening[:1], func(t *subject, i int) (placeholder, bool) { return t.between(i, opening, closing) }}
}

// between reads opening, a body and closing at byte i.
func (t *subject) between(i int, opening string, closing closer) (placeholder, bool) {
	if !strings.HasPrefix(t.s[i:], opening) {
		return placeholder{}, false
	}
	from := i + len(opening)
	to := t.closing(closing, from)
	if to <= from {
		return placeholder{}, false
	}
	return placeholder{text: strings.TrimSpace(t.s[from:to]), from: i, to: to + len(closers[closing])}, true
}

// i18next is {{name}} and $t(key).
func i18next() syntax {
	return syntax{"{$", func(t *subject, i int) (placeholder, bool) {
		if t.s[i] == '$' {
			return t.between(i, "$t(", closeRound)
		}
		return t.between(i, "{{", closeBraces)
	}}
}

// vue is {name}, %{name}, @:key, @.modifier:key and their forms with brackets.
func vue() syntax {
	return syntax{"{%@", func(t *subject, i int) (placeholder, bool) {
		switch s := t.s; s[i] {
		case '{':
			return t.between(i, "{", closeBrace)
		case '%':
			return t.between(i, "%{", closeBrace)
		default:
			return vueLink(s, i)
		}
	}}
}

// vueLink reads a reference to another message.
func vueLink(s string, i int) (placeholder, bool) {
	j := i + 1
	if j < len(s) && s[j] == '.' {
		for j++; j < len(s) && isLetter(s[j]); {
			j++
		}
	}
	if j == len(s) || s[j] != ':' {
		return placeholder{}, false
	}
	j++
	bracket := j < len(s) && s[j] == '('
	if bracket {
		j++
	}
	from := j
	for j < len(s) && (isWord(s[j]) || s[j] == '-' || s[j] == '.' && j+1 < len(s) && isWord(s[j+1])) {
		j++
	}
	if j == from {
		return placeholder{}, false
	}
	if bracket && j < len(s) && s[j] == ')' {
		j++
	}
	return placeholder{text: s[i:j], from: i, to: j}, true
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
