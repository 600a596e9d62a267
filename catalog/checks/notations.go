package checks

import "strings"

// braceNumber is {0} of C# and Java's MessageFormat, with what may follow the
// number up to the bracket.
func braceNumber(after string) syntax {
	return syntax{'{', func(s string, i int) (placeholder, bool) {
		j := digits(s, i+1)
		if j == i+1 || j == len(s) || s[j] != '}' && strings.IndexByte(after, s[j]) < 0 {
			return placeholder{}, false
		}
		n := strings.IndexAny(s[j:min(len(s), j+maxKey)], "{}")
		if n < 0 || s[j+n] != '}' {
			return placeholder{}, false
		}
		return placeholder{text: s[i+1 : j+n], from: i, to: j + n + 1}, true
	}}
}

// objectPascal is the notation of Format.
func objectPascal() syntax {
	return syntax{'%', func(s string, i int) (placeholder, bool) {
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
	return syntax{'%', func(s string, i int) (placeholder, bool) {
		closing := byte('}')
		if i+1 < len(s) && s[i+1] == '<' {
			closing = '>'
		}
		if i+1 == len(s) || s[i+1] != '{' && s[i+1] != '<' {
			return c.scan(s, i)
		}
		n := strings.IndexByte(s[i:min(len(s), i+maxKey)], closing)
		if n < 3 {
			return placeholder{}, false
		}
		to := i + n + 1
		if closing == '>' && to < len(s) && isLetter(s[to]) {
			to++
		}
		return placeholder{text: s[i+1 : to], from: i, to: to}, true
	}}
}

// between is what stands between two marks, blanks aside.
func between(opening, closing string) syntax {
	return syntax{opening[0], func(s string, i int) (placeholder, bool) {
		if !strings.HasPrefix(s[i:], opening) {
			return placeholder{}, false
		}
		from := i + len(opening)
		n := strings.Index(s[from:min(len(s), from+maxKey)], closing)
		if n < 1 {
			return placeholder{}, false
		}
		return placeholder{text: strings.TrimSpace(s[from : from+n]), from: i, to: from + n + len(closing)}, true
	}}
}
