package poparse

import (
	"strconv"
	"strings"
)

// translations writes the translations of an entry. Those that have not changed keep
// their bytes, and so do the lines at the start and at the end of the others.
func (e *editor) translations(c, was *Entry, s *span) error {
	from := s.from[partTranslations]
	forms := formLines(e.cursor.text[from:s.to], was)
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
	first := lines[0]
	if first.empty {
		lines = lines[1:]
	}
	groups := logicalLines(lines)
	before, now := splitLines(old), splitLines(c.Str[i])
	start, end := 0, 0
	if len(groups) == len(before) && len(now) > 1 && len(before) > 0 {
		most := min(len(before), len(now))
		for start < most && before[start] == now[start] {
			start++
		}
		for end < most-start && before[len(before)-1-end] == now[len(now)-1-end] {
			end++
		}
	}
	if start+end == 0 || start == 0 && !first.empty {
		return e.flush(c, func() { e.render.form(c, i) })
	}
	head := first.to
	if start > 0 {
		head = groups[start-1].to
	}
	if err := e.keep(from+first.from, from+head); err != nil {
		return err
	}
	if middle := strings.Join(now[start:len(now)-end], ""); middle != "" {
		if err := e.flush(c, func() {
			style := e.render.style
			e.render.joined = false // the lines beside it are not, whatever those of other entries are
			e.render.begin(c, "", "#~ ")
			e.render.write("", middle)
			e.render.style = style
		}); err != nil {
			return err
		}
	}
	if end == 0 {
		return nil
	}
	return e.keep(from+groups[len(groups)-end].from, from+groups[len(groups)-1].to)
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
