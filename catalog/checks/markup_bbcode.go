package checks

import (
	"strings"
)

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
	inS, inT := pairNames(a), pairNames(b)
	missing, extra := lacking(a, inT), lacking(b, inS)
	if len(a) == len(b) && missing == nil && extra == nil {
		return hit{}
	}
	if !r.explain {
		return hit{failed: true}
	}
	if missing == nil && extra == nil { // the same names, but not the same number
		missing, extra = lacking(a, nil), lacking(b, nil)
	}
	h := hit{failed: true, sources: missing, targets: extra}
	if extra == nil {
		h.target = Span{0, len(t)}
	}
	return h
}

// bbPair is a pair of tags.
type bbPair struct {
	name     string
	from, to int // the opening tag
}

// pairNames returns the names of pairs.
func pairNames(pairs []bbPair) map[string]struct{} {
	all := make(map[string]struct{})
	for _, p := range pairs {
		all[p.name] = struct{}{}
	}
	return all
}

// lacking returns the places of the pairs whose name is not in others.
func lacking(pairs []bbPair, others map[string]struct{}) []Span {
	var spans []Span
	for _, p := range pairs {
		if _, ok := others[p.name]; !ok && len(spans) < maxPlaces {
			spans = append(spans, Span{p.from, p.to})
		}
	}
	return spans
}

// bbPairs returns the pairs of tags of s in order, up to maxMarks. A pair is on one
// line. Tags inside a pair are ignored.
func bbPairs(s string) []bbPair {
	var pairs []bbPair
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
func pairsOfLine(pairs []bbPair, line string, offset int) []bbPair {
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
		pairs = append(pairs, bbPair{name, offset + from, offset + to})
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
