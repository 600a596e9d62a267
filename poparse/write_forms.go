package poparse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// translations writes the translations of an entry. Those that have not changed keep
// their bytes, and so do the lines of the others that have not.
func (e *editor) translations(c, was *Entry, s *span) error {
	from := s.from[partTranslations]
	forms := formLines(e.cursor.text[from:s.to], was)
	e.render.nl = lineEnd(e.cursor.text[from:s.to], e.nl)
	if forms == nil || len(c.Str) == 0 || c.HasPlural != was.HasPlural {
		return e.flush(c, func() { e.render.translations(c) })
	}
	for i, str := range c.Str {
		var err error
		switch {
		case i >= len(forms):
			err = e.flush(c, func() { e.render.form(c, i) })
		case str == was.Str[i]:
			err = e.keep(from+forms[i][0].from, from+forms[i][len(forms[i])-1].to)
		default:
			e.render.nl = lineEnd(e.cursor.text[from+forms[i][0].from:from+forms[i][len(forms[i])-1].to], e.render.nl)
			err = e.form(c, i, was.Str[i], from, forms[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// form writes a changed translation. Its old lines are at offsets from an index of the
// text.
func (e *editor) form(c *Entry, i int, old string, from int, lines []stringLine) error {
	first, all := lines[0], lines
	if first.empty {
		lines = lines[1:]
	}
	groups := logicalLines(lines)
	before, now := splitLines(old), splitLines(c.Str[i])
	var as []int // nil if the lines are not all to be found, or none stays
	if len(groups) == len(before) && len(now) > 1 && len(before) > 0 {
		as = keptLines(before, now)
		if !slices.ContainsFunc(as, func(k int) bool { return k >= 0 }) || !first.empty && as[0] != 0 {
			as = nil
		}
	}
	if as == nil && isHeader(c) && len(before) == len(now) {
		if done, err := e.fields(before, now, from, all); done || err != nil {
			return err
		}
	}
	if as == nil {
		return e.flush(c, func() { e.render.form(c, i) })
	}
	if first.empty {
		if err := e.keep(from+first.from, from+first.to); err != nil {
			return err
		}
	}
	near := 0 // the group beside the lines that are written
	for n, k := range as {
		var err error
		switch {
		case k >= 0:
			near = min(k+1, len(groups)-1)
			err = e.keep(from+groups[k].from, from+groups[k].to)
		default:
			if len(before) == len(now) {
				near = n
			}
			line := e.cursor.text[from+groups[near].from:]
			err = e.flush(c, func() { e.lineOf(c, now[n], line) })
		}
		if err != nil {
			return err
		}
	}
	return nil
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

// fieldPiece is a part of a header's line in the text: its string, or some of it.
type fieldPiece struct {
	n, from, to      int // the index of the header's line, and where the part is
	line, next       int // where the line of the text begins and ends
	first, wholeLine bool
}

// fieldPieces finds the lines of a header in the text, nil if there are not as many.
func (e *editor) fieldPieces(count, from int, lines []stringLine) []fieldPiece {
	var pieces []fieldPiece
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
			pieces = append(pieces, fieldPiece{n, at, to, from + l.from, from + l.to, first, at == begin && to == end})
			if first = ends; ends {
				n++
			}
			at = to
		}
	}
	if !first {
		n++
	}
	if n != count {
		return nil
	}
	return pieces
}

// fields writes the changed lines of a header whose lines are not on lines of their own,
// and reports whether it has found them.
func (e *editor) fields(before, now []string, from int, lines []stringLine) (bool, error) {
	pieces := e.fieldPieces(len(before), from, lines)
	at := from + lines[0].from
	for _, p := range pieces {
		if before[p.n] == now[p.n] {
			continue
		}
		if !p.first && p.wholeLine {
			p.from, p.to = p.line, p.next
		}
		if err := e.keep(at, p.from); err != nil {
			return false, err
		}
		if p.first {
			value, more := strings.CutSuffix(now[p.n], "\n")
			e.render.escape(value, more)
			text, err := e.enc.encode(string(e.render.text.Runes))
			if err != nil {
				return false, fmt.Errorf("the header: %w", err)
			}
			e.release()
			e.out.WriteString(text)
		}
		at = p.to
	}
	if pieces == nil {
		return false, nil
	}
	return true, e.keep(at, from+lines[len(lines)-1].to)
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
	lineFeed bool // its string ends with the escape \n
	inner    bool // its string has \n elsewhere, or an escape with digits
}

// logicalLines joins lines up to each line feed; nil if they do not end there.
func logicalLines(lines []stringLine) []stringLine {
	var groups []stringLine
	open := false
	for _, line := range lines {
		if line.inner {
			return nil
		}
		if open {
			groups[len(groups)-1].to = line.to
		} else {
			groups = append(groups, line)
		}
		open = !line.lineFeed
	}
	return groups
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
			i++
			switch {
			case i == len(line):
				return false
			case line[i] == 'n' && i+1 == len(line):
				l.lineFeed = true
			case line[i] == 'n', line[i] == 'x', isDigit(line[i]):
				l.inner = true
			}
		}
	}
	return true
}
