package checks

import "strings"

// bbcode compares the pairs [tag]…[/tag].
func bbcode(r *run, s, t string) hit {
	if !strings.Contains(s, "[/") {
		return hit{}
	}
	a := bbPairs(s)
	if len(a) == 0 {
		return hit{}
	}
	b := bbPairs(t)
	if len(a) == maxMarks || len(b) == maxMarks {
		return hit{}
	}
	missing, extra := pairUp(a, b, true)
	switch {
	case missing+extra > 0:
		return r.onlyIn(a, b, t)
	case len(a) != len(b):
		return hit{failed: true, sources: places(a), targets: places(b)}
	}
	return hit{}
}

// bbPairs returns the pairs of tags of s in order, up to maxMarks. A pair is on one
// line. Tags inside a pair are ignored.
func bbPairs(s string) []placeholder {
	var pairs []placeholder
	for at := 0; at < len(s); {
		end := len(s)
		if n := strings.IndexByte(s[at:], '\n'); n >= 0 {
			end = at + n
		}
		if line := s[at:end]; strings.Contains(line, "[/") {
			pairs = pairsOfLine(pairs, line, at)
		}
		at = end + 1
	}
	return pairs
}

// pairsOfLine appends the pairs of a line that begins at byte offset.
func pairsOfLine(pairs []placeholder, line string, offset int) []placeholder {
	last := lastClosing(line)
	for i := 0; i < len(line) && len(pairs) < maxMarks; {
		name, from, to := bbTag(line, i)
		if to == 0 {
			break
		}
		i = to
		if head, _, ok := strings.Cut(name, "@"); ok && last[name] < to {
			name = head
		}
		if name == "" || last[name] < to {
			continue
		}
		pairs = append(pairs, placeholder{text: name, from: offset + from, to: offset + to})
		closing := "[/" + name + "]"
		i += strings.Index(line[i:], closing) + len(closing) // last says there is one
	}
	return pairs
}

// lastClosing returns where the last [/name] of each name begins.
func lastClosing(line string) map[string]int {
	last := make(map[string]int)
	for i := 0; ; {
		name, from, to := bbTag(line, i)
		if to == 0 || len(last) == maxMarks {
			return last
		}
		if i = to; len(name) > 1 && name[0] == '/' {
			last[name[1:]] = from
		}
	}
}

// bbTag returns the first [name] from byte i. A name has no brackets. to is 0 if no
// tag is left.
func bbTag(line string, i int) (name string, from, to int) {
	for {
		n := strings.IndexByte(line[i:], '[')
		if n < 0 {
			return "", 0, 0
		}
		from = i + n
		n = strings.IndexAny(line[from+1:], "[]")
		if n < 0 {
			return "", 0, 0
		}
		if i = from + 1 + n; line[i] == ']' {
			return line[from+1 : i], from, i + 1
		}
	}
}
