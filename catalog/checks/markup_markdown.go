package checks

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// mdReflink compares the references in [text][reference].
func mdReflink(r *run, s, t string) hit {
	if !strings.Contains(s, "][") {
		return hit{}
	}
	a := mdLinks(s, mdReference)
	if len(a) == 0 {
		return hit{}
	}
	return r.sameSets(t, a, mdLinks(t, mdReference))
}

// sameSets fails if a and b have different texts, regardless of their number.
func (r *run) sameSets(t string, a, b []placeholder) hit {
	if len(a) == maxMarks || len(b) == maxMarks {
		return hit{}
	}
	if missing, extra := pairUp(a, b, true); missing == 0 && extra == 0 {
		return hit{}
	}
	return r.onlyIn(a, b, t)
}

// onlyIn fails at the marks that only one side has, or if the source has them all, at
// the whole target t.
func (r *run) onlyIn(a, b []placeholder, t string) hit {
	h := hit{failed: true}
	if r.explain {
		h.sources, h.targets = unpaired(a), unpaired(b)
		if h.targets == nil {
			h.target = Span{0, len(t)}
		}
	}
	return h
}

// mdLink compares the number of links, and the addresses inside the document.
func mdLink(r *run, s, t string) hit {
	if !strings.Contains(s, "](") && !strings.Contains(s, "<") {
		return hit{}
	}
	a := mdLinks(s, mdAddress)
	if len(a) == 0 {
		return hit{}
	}
	b := mdLinks(t, mdAddress)
	if len(a) == maxMarks || len(b) == maxMarks {
		return hit{}
	}
	if len(a) != len(b) {
		return hit{failed: true, sources: places(a), targets: places(b), target: Span{0, len(t)}}
	}
	return r.sameSets(t, within(a), within(b))
}

func places(all []placeholder) []Span {
	var spans []Span
	for _, p := range all[:min(len(all), maxPlaces)] {
		spans = append(spans, Span{p.from, p.to})
	}
	return spans
}

// within returns the links inside a document, and those that are a placeholder.
func within(links []placeholder) []placeholder {
	return slices.DeleteFunc(slices.Clone(links), func(p placeholder) bool {
		return p.text == "" || strings.IndexByte(".#{", p.text[0]) < 0
	})
}

// mdKind is a kind of links.
type mdKind uint8

const (
	mdAddress   mdKind = iota // [text](address) and <address>
	mdReference               // [text][reference]
)

// mdLinks returns the links of one kind, with their addresses or references, up to
// maxMarks. It reads s once: the end of an unclosed link is searched only once.
func mdLinks(s string, kind mdKind) []placeholder {
	var all []placeholder
	var open []int // positions of the open brackets
	lastBracket, lastRound := strings.LastIndexByte(s, ']'), strings.LastIndexByte(s, ')')
	for i := 0; i < len(s) && len(all) < maxMarks; i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '[':
			if len(open) == maxMarks { // so many are no links
				open = open[:0]
			}
			open = append(open, i)
		case c == '<' && kind == mdAddress:
			if to := autolink(s, i); to > 0 {
				all = append(all, placeholder{text: s[i+1 : to-1], from: i, to: to})
				i = to - 1
			}
		case c == ']' && len(open) > 0:
			from := open[len(open)-1]
			open = open[:len(open)-1]
			to := -1
			switch {
			case i+1 == len(s):
			case kind == mdAddress && s[i+1] == '(' && i+1 < lastRound:
				to = i + strings.IndexByte(s[i:], ')')
			case kind == mdReference && s[i+1] == '[' && i+1 < lastBracket:
				to = i + 1 + strings.IndexByte(s[i+1:], ']')
			}
			if to > 0 {
				text, _, _ := strings.Cut(strings.TrimSpace(s[i+2:to]), " ") // a title may follow
				if kind == mdReference {
					text = s[i+2 : to]
				}
				all = append(all, placeholder{text: strings.Trim(text, "<>"), from: from, to: to + 1})
				i = to
			}
		}
	}
	slices.SortFunc(all, func(p, q placeholder) int { return p.from - q.from })
	return all
}

// autolink returns the position after the <address> at byte i, or 0. It reads up to
// the next "<" at most.
func autolink(s string, i int) int {
	n := strings.IndexAny(s[i+1:], "<> \t\n")
	if n < 0 || s[i+1+n] != '>' || !isAutolink(s[i+1:i+1+n]) {
		return 0
	}
	return i + n + 2
}

// isAutolink reports an address of http or of a mailbox.
func isAutolink(s string) bool {
	name, host, ok := strings.Cut(s, "@")
	return strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") || ok && name != "" && strings.IndexByte(host, '.') > 0
}

// blankLinks puts blanks for the links and bare addresses of Markdown.
func blankLinks(s string) string {
	links := mdLinks(s, mdAddress)
	if len(links) == 0 {
		return s
	}
	b := []byte(s)
	done := 0
	for _, p := range links {
		for done = max(done, p.from); done < p.to; done++ {
			b[done] = ' '
		}
	}
	return string(b)
}

// mdSyntax compares the kinds of marks in use.
func mdSyntax(r *run, s, t string) hit {
	const marks = "_*`~<"
	if !strings.ContainsAny(s, marks) && !strings.ContainsAny(t, marks) {
		return hit{}
	}
	return r.sameSets(t, mdMarks(s), mdMarks(t))
}

// mdMarks returns the closed marks of Markdown, up to maxMarks, each with the text
// that it encloses. Marks inside another one are ignored. A mark is searched only up
// to its last end, so that each character is read a few times only.
func mdMarks(s string) []placeholder {
	var all []placeholder
	m := markEnds{s: s, last: map[string]int{}}
	for i := 0; i < len(s) && len(all) < maxMarks; {
		from := i
		mark, to := "", 0
		switch c := s[i]; c {
		case '\\':
			i++
		case '_', '*':
			if strings.HasPrefix(s[i+1:], s[i:i+1]) {
				mark, to = s[i:i+2], m.double(i)
			}
			if to == 0 {
				mark, to = s[i:i+1], m.single(c, i)
			}
		case '~':
			if strings.HasPrefix(s[i:], "~~") {
				mark, to = "~~", m.double(i)
			}
		case '`':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
			mark, to = s[i:i+n], m.code(i, n)
			i += n - 1
		case '<':
			mark, to = "<", autolink(s, i)
		}
		if i++; to > 0 {
			all = append(all, placeholder{text: mark, from: from, to: to})
			i = to
		}
	}
	return all
}

// markEnds finds the ends of marks. It knows the last possible end of each mark, so
// that every search succeeds.
type markEnds struct {
	s    string
	last map[string]int // of "_", "*", "__", "**" and "~~", as far as they were asked for
	runs map[int][]int  // of backquotes: positions of the runs of a length
}

// lastEnd returns the last end of a mark, which find finds when it is asked for first.
func (m *markEnds) lastEnd(mark string, find func() int) int {
	at, known := m.last[mark]
	if !known {
		at = find()
		m.last[mark] = at
	}
	return at
}

// double returns the position after the end of the mark of two characters at byte i, or 0.
func (m *markEnds) double(i int) int {
	mark := m.s[i : i+2]
	if m.lastEnd(mark, func() int { return strings.LastIndex(m.s, mark) }) < i+3 {
		return 0
	}
	to := i + 3 + strings.Index(m.s[i+3:], mark) + 2
	for mark != "~~" && to < len(m.s) && m.s[to] == mark[0] {
		to++ // the mark ends where its run ends
	}
	return to
}

// single returns the position after the end of the mark c at byte i, or 0.
func (m *markEnds) single(c byte, i int) int {
	if c == '_' && i > 0 && wordRune(last(m.s[:i])) {
		return 0
	}
	end := m.lastEnd(m.s[i:i+1], func() int {
		at := len(m.s) - 1
		for at >= 0 && !m.ends(c, at) {
			at--
		}
		return at
	})
	for j := i + 2; j <= end; j++ {
		if m.ends(c, j) {
			return j + 1
		}
	}
	return 0
}

// ends reports whether byte i is a mark c that can be an end.
func (m *markEnds) ends(c byte, i int) bool {
	if m.s[i] != c {
		return false
	}
	if i+1 == len(m.s) {
		return true
	}
	if c == '*' {
		return m.s[i+1] != '*'
	}
	next, _ := utf8.DecodeRuneInString(m.s[i+1:])
	return !wordRune(next)
}

// backquotes is a run of them.
var backquotes = regexp.MustCompile("`+")

// code returns the position after the run of n backquotes that closes the run at
// byte i, or 0.
func (m *markEnds) code(i, n int) int {
	if m.runs == nil {
		m.runs = make(map[int][]int)
		for _, run := range backquotes.FindAllStringIndex(m.s, -1) {
			m.runs[run[1]-run[0]] = append(m.runs[run[1]-run[0]], run[0])
		}
	}
	at, _ := slices.BinarySearch(m.runs[n], i+n)
	if at == len(m.runs[n]) {
		return 0
	}
	return m.runs[n][at] + n
}

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
	at := 0
	for line := range strings.Lines(s) {
		if strings.Contains(line, "[/") {
			pairs = pairsOfLine(pairs, line, at)
		}
		at += len(line)
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

// bbName is a name in brackets, which has none.
var bbName = regexp.MustCompile(`\[([^\[\]]*)\]`)

// bbTag returns the first [name] from byte i. to is 0 if no tag is left.
func bbTag(line string, i int) (name string, from, to int) {
	at := bbName.FindStringSubmatchIndex(line[i:])
	if at == nil {
		return "", 0, 0
	}
	return line[i+at[2] : i+at[3]], i + at[0], i + at[1]
}
