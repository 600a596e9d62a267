package checks

import "strings"

func digits(s string, i int) int {
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i
}

func skip(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

// printf makes the scanner of C's notation with the given flag characters;
// with named, a key in brackets stands for Python's.
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

// key is the place behind "(key)" at byte i, else 0.
func key(t *subject, i int) int {
	if i >= len(t.s) || t.s[i] != '(' {
		return 0
	}
	if to := t.closing(closeRound, i); to > i+1 {
		return to + 1
	}
	return 0
}

// javaPrintf is java.util.Formatter's notation.
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

// pythonBrace is str.format's notation.
func pythonBrace() syntax {
	return syntax{"{", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		p := placeholder{from: i}
		if i+1 < len(s) && s[i+1] == '{' {
			p.to, p.escape = i+2, true
			return p, true
		}
		n := strings.IndexAny(s[i+1:], "{}")
		if n < 0 || s[i+1+n] != '}' {
			return p, false
		}
		p.to = i + n + 2
		p.text = s[i+1 : i+1+n]
		p.position = p.text == ""
		return p, p.position || fieldName(p.text)
	}}
}

func fieldName(text string) bool {
	i := 0
	for i < len(text) && isWord(text[i]) {
		i++
	}
	switch {
	case i == len(text):
		return true
	case i == 0 && text[0] != ':' && text[0] != '!':
		return false
	}
	return strings.IndexByte(".[!:", text[i]) >= 0
}

// perlBrace is Locale::TextDomain's notation.
func perlBrace() syntax {
	return syntax{"{", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		j := i + 1
		for j < len(s) && isWord(s[j]) {
			j++
		}
		if j == i+1 || j >= len(s) || s[j] != '}' {
			return placeholder{}, false
		}
		return placeholder{text: s[i+1 : j], from: i, to: j + 1}, true
	}}
}

// qt is QString::arg's notation, plural its number of a plural.
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

// percent is %word%.
func percent() syntax {
	return syntax{"%", func(t *subject, i int) (placeholder, bool) {
		s := t.s
		j := i + 1
		for j < len(s) && isWord(s[j]) {
			j++
		}
		if j == i+1 || j >= len(s) || s[j] != '%' {
			return placeholder{}, false
		}
		return placeholder{text: s[i+1 : j], from: i, to: j + 1}, true
	}}
}
