package checks

import "strings"

// braceNumber is the notation {0} of C# and of Java's MessageFormat. One of the
// characters of after may follow the number, and then anything up to the brace.
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

// between is the notation of a name between two marks, with or without blanks.
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

// i18next is the notation {{name}} and $t(key).
func i18next() syntax {
	return syntax{"{$", func(t *subject, i int) (placeholder, bool) {
		if t.s[i] == '$' {
			return t.between(i, "$t(", closeRound)
		}
		return t.between(i, "{{", closeBraces)
	}}
}

// vue is the notation {name}, %{name}, @:key, @.modifier:key, and the last two
// with parentheses.
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

// pythonBrace is the notation of Python's str.format.
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

// fieldName reports whether text is a field of Python's str.format.
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

// word is the notation of a word between two marks: {word} of Perl's
// Locale::TextDomain, %word%.
func word(opening string, closing byte) syntax {
	return syntax{opening, func(t *subject, i int) (placeholder, bool) {
		s := t.s
		j := i + 1
		for j < len(s) && isWord(s[j]) {
			j++
		}
		if j == i+1 || j >= len(s) || s[j] != closing {
			return placeholder{}, false
		}
		return placeholder{text: s[i+1 : j], from: i, to: j + 1}, true
	}}
}
