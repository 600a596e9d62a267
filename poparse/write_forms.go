package poparse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// translations writes the translations of an entry. Those that have not changed keep
// their bytes, and so do the lines of the others that have not.
func (e *editor) translations(c, was *Entry, s *span) {
	from := s.from[partTranslations]
	forms := formLines(e.cursor.text[from:s.to], was)
	e.render.nl = lineEnd(e.cursor.text[from:s.to], e.nl)
	if forms == nil || len(c.Str) == 0 || c.HasPlural != was.HasPlural {
		e.flush(c, func() { e.render.translations(c) })
		return
	}
	for i, str := range c.Str {
		if i >= len(forms) {
			e.flush(c, func() { e.render.form(c, i) })
			continue
		}
		begin, end := from+forms[i][0].from, from+forms[i][len(forms[i])-1].to
		if str == was.Str[i] {
			e.keep(begin, end)
			continue
		}
		e.render.nl = lineEnd(e.cursor.text[begin:end], e.render.nl)
		e.form(c, i, was.Str[i], from, forms[i])
	}
}

// form writes a changed translation. Its old lines are at offsets from an index of the
// text.
func (e *editor) form(c *Entry, i int, old string, from int, lines []stringLine) {
	first := lines[0]
	pieces := e.pieces(from, lines)
	groups := e.ownLines(pieces)
	before, now := splitLines(old), splitLines(c.Str[i])
	var as []int // nil if the lines are not all to be found, or none stays
	if len(groups) == len(before) && len(now) > 1 && len(before) > 0 {
		as = keptLines(before, now)
		if !slices.ContainsFunc(as, func(k int) bool { return k >= 0 }) || !first.empty && as[0] != 0 {
			as = nil
		}
	}
	if n := len(pieces); as == nil && isHeader(c) && len(before) == len(now) && n > 0 && pieces[n-1].n+1 == len(before) {
		e.fields(before, now, pieces, from+first.from, from+lines[len(lines)-1].to)
		return
	}
	if as == nil {
		e.flush(c, func() { e.render.form(c, i) })
		return
	}
	if first.empty {
		e.keep(from+first.from, from+first.to)
	}
	near := 0 // the group beside the lines that are written
	for n, k := range as {
		if k >= 0 {
			near = min(k+1, len(groups)-1)
			e.keep(groups[k][0], groups[k][1])
			continue
		}
		if len(before) == len(now) {
			near = n
		}
		line := e.cursor.text[groups[near][0]:]
		e.flush(c, func() { e.lineOf(c, now[n], line) })
	}
}

// lineOf renders a line of a string, indented as a line of the text is.
func (e *editor) lineOf(c *Entry, value, beside string) {
	style := e.render.style
	e.render.joined = false // the lines beside it are not, whatever those of other entries are
	e.render.begin(c, "", "#~ ")
	if indent := beside[:strings.IndexByte(beside, '"')]; strings.Trim(indent, " \t#~") == "" {
		e.render.prefix = indent
	}
	e.render.write("", value)
	e.render.style = style
}

// keptLines returns for each line of a string the index of the old line that it is, -1
// for one that is new: of as many lines those that have stayed in their place, else those
// at the start and at the end.
func keptLines(before, now []string) []int {
	as := make([]int, len(now))
	start, end, most := 0, 0, min(len(before), len(now))
	for start < most && before[start] == now[start] {
		start++
	}
	for end < most-start && before[len(before)-1-end] == now[len(now)-1-end] {
		end++
	}
	for n := range now {
		switch k := n + len(before) - len(now); {
		case n < start, k == n && before[n] == now[n]:
			as[n] = n
		case n >= len(now)-end:
			as[n] = k
		default:
			as[n] = -1
		}
	}
	return as
}

// piece is a part of a line of a string: what of it is in one line of the text.
type piece struct {
	n, from, to  int // the index of the string's line, and where the part is
	line, next   int // where the line of the text begins and ends
	first, whole bool
}

// pieces finds the lines of a string in lines of the text.
func (e *editor) pieces(from int, lines []stringLine) (pieces []piece) {
	n, first := 0, true
	for _, l := range lines {
		line := e.cursor.text[from+l.from : from+l.to]
		begin, end := from+l.from+strings.IndexByte(line, '"')+1, from+l.from+strings.LastIndexByte(line, '"')
		for at := begin; at < end; {
			to, ends := at, false
			for to < end && !ends {
				if e.cursor.text[to] == '\\' {
					to++
					ends = e.cursor.text[to] == 'n'
				}
				to++
			}
			pieces = append(pieces, piece{n, at, to, from + l.from, from + l.to, first, at == begin && to == end})
			if first = ends; ends {
				n++
			}
			at = to
		}
	}
	return pieces
}

// ownLines returns where each line of a string begins and ends in the text; nil if one shares
// a line of the text with another, or has an escape with digits.
func (e *editor) ownLines(pieces []piece) (lines [][2]int) {
	for _, p := range pieces {
		switch {
		case !p.whole || hasNumbers(e.cursor.text[p.from:p.to]):
			return nil
		case p.first:
			lines = append(lines, [2]int{p.line, p.next})
		default:
			lines[p.n][1] = p.next
		}
	}
	return lines
}

// fields writes the changed lines of a header whose lines are not on lines of their own, from
// an offset of the text to another.
func (e *editor) fields(before, now []string, pieces []piece, at, to int) {
	for _, p := range pieces {
		if before[p.n] == now[p.n] {
			continue
		}
		if !p.first && p.whole {
			p.from, p.to = p.line, p.next
		}
		e.keep(at, p.from)
		if p.first {
			value, more := strings.CutSuffix(now[p.n], "\n")
			e.render.escape(value, more)
			text, err := e.enc.encode(string(e.render.text.Runes))
			if err != nil {
				e.err = cmp.Or(e.err, fmt.Errorf("the header: %w", err))
			}
			e.release()
			e.out.WriteString(text)
		}
		at = p.to
	}
	e.keep(at, to)
}

// splitLines splits a string after its line feeds.
func splitLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// stringLine is a line of the text with one string, perhaps after a keyword.
type stringLine struct {
	from, to int
	empty    bool // its string
}

// formLines finds the lines of each translation of an entry in their text. It returns
// nil if they are not in the usual form: in their order, with one string on a line.
func formLines(text string, e *Entry) [][]stringLine {
	var forms [][]stringLine
	at := 0
	for line := range strings.Lines(text) {
		l := stringLine{from: at, to: at + len(line)}
		at = l.to
		line = strings.Trim(line, " \t\r\n")
		if e.Obsolete {
			line = strings.TrimLeft(strings.TrimPrefix(line, "#~"), " \t")
		}
		if rest, ok := strings.CutPrefix(line, "msgstr"); ok {
			if e.HasPlural {
				rest, ok = strings.CutPrefix(rest, "["+strconv.Itoa(len(forms))+"]")
			}
			if !ok {
				return nil
			}
			forms = append(forms, nil)
			line = strings.TrimLeft(rest, " \t")
		}
		if len(forms) == 0 || !l.read(line) {
			return nil
		}
		forms[len(forms)-1] = append(forms[len(forms)-1], l)
	}
	if len(forms) != len(e.Str) {
		return nil
	}
	return forms
}

// read reads the string of a line and reports whether there is nothing else.
func (l *stringLine) read(line string) bool {
	if len(line) < 2 || line[0] != '"' || line[len(line)-1] != '"' {
		return false
	}
	line = line[1 : len(line)-1]
	l.empty = line == ""
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			return false
		case '\\':
			if i++; i == len(line) {
				return false
			}
		}
	}
	return true
}
