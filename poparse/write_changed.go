package poparse

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// changed writes an entry of which some kinds of lines are unchanged.
func (e *editor) changed(c, was *Entry, s *span, same KindSet) {
	e.comments(c, was, s, same)
	for p, kind := partPrevious, KindPrevious; p < partTranslations; p, kind = p+1, kind+1 {
		if same.Has(kind) {
			e.keep(s.from[p], s.end(p))
			continue
		}
		e.render.nl = lineEnd(e.cursor.text[s.from[p]:s.end(p)], e.nl)
		e.flush(c, func() { e.render.kind(c, kind) })
	}
	if same.Has(KindStr) {
		e.keep(s.from[partTranslations], s.to)
	} else {
		e.translations(c, was, s)
	}
}

// comments writes the comments of an entry, kind by kind. The new lines of a changed
// kind are written where its first line was; if of the flags only fuzzy has changed,
// their lines stay but for it.
func (e *editor) comments(c, was *Entry, s *span, same KindSet) {
	from, to := s.from[partComments], s.end(partComments)
	const all = 1<<commentKinds - 1
	if same&all == all {
		e.keep(from, to)
		return
	}
	e.render.nl = lineEnd(e.cursor.text[from:to], lineEnd(e.cursor.text[to:s.to], e.nl))
	kinds, ok := commentLines(e.cursor.text[from:to])
	if !ok {
		e.flush(c, func() {
			for kind := range commentKinds {
				e.render.kind(c, kind)
			}
		})
		return
	}
	flags := fuzzyLines(c, was, e.cursor.text[from:to], kinds)
	var present, written [commentKinds + 1]bool
	for _, kind := range kinds {
		present[kind] = true
	}
	missing := func(until Kind) {
		for kind := range until {
			if !same.Has(kind) && !written[kind] && !present[kind] {
				written[kind] = true
				e.flush(c, func() { e.render.kind(c, kind) })
			}
		}
	}
	i, line := 0, from
	for text := range strings.Lines(e.cursor.text[from:to]) {
		end, kind := line+len(text), kinds[i]
		again := written[kind]
		if kind != commentKinds { // which is a blank line
			missing(kind)
			written[kind] = !same.Has(kind)
		}
		switch {
		case kind == commentKinds, same.Has(kind), kind == KindFlags && flags != nil && flags[i] == text:
			e.keep(line, end)
		case kind == KindFlags && flags != nil:
			e.flush(c, func() { e.part.WriteString(flags[i]) })
		case !again:
			e.flush(c, func() { e.render.kind(c, kind) })
		}
		i, line = i+1, end
	}
	missing(commentKinds)
}

// commentLines returns the kind of each line of comments, commentKinds for a blank
// line. It returns false if a line has no single kind.
func commentLines(text string) ([]Kind, bool) {
	var kinds []Kind
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		kind := KindComments
		switch {
		case line == "":
			kind = commentKinds
		case line[0] != '#' || len(line) > 1 && strings.IndexByte("~|!", line[1]) >= 0:
			return nil, false
		case len(line) == 1:
		case line[1] == '.':
			kind = KindExtracted
		case line[1] == ':':
			kind = KindReferences
		case line[1] == ',', line[1] == '=':
			kind = KindFlags
		}
		kinds = append(kinds, kind)
	}
	return kinds, true
}

// hasNumbers reports whether text may have octal or hexadecimal escapes.
func hasNumbers(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		if text[i] == '\\' && (isDigit(text[i+1]) || text[i+1] == 'x') {
			return true
		}
	}
	return false
}

// sameLines compares comments; each of them may have several lines.
func sameLines(a, b []string) bool {
	return slices.Equal(a, b) || len(a) > 0 && len(b) > 0 && strings.Join(a, "\n") == strings.Join(b, "\n")
}

// sameForms compares translations. No translation equals an empty one.
func sameForms(a, b []string) bool {
	return slices.Equal(a, b) || len(a)+len(b) == 1 && strings.Join(a, "")+strings.Join(b, "") == ""
}

// flagAt is where a flag is in a line.
type flagAt struct{ from, to int }

// flagsAt finds the flags of a line, as the parser splits it.
func flagsAt(line string) []flagAt {
	var list []flagAt
	end := len(strings.TrimRight(line, " \t\r\n"))
	for at := strings.IndexByte(line, '#') + len("#,"); ; {
		for at < end && isFlagSpace(rune(line[at])) {
			at++
		}
		if at >= end {
			return list
		}
		f := flagAt{at, at + flagEnd(line[at:end])}
		list, at = append(list, f), f.to
	}
}

// fuzzyLines returns the lines of the comments of an entry of which only the flag fuzzy
// has changed; nil if other flags have, too, or lines would be read differently.
func fuzzyLines(c, was *Entry, text string, kinds []Kind) []string {
	if c.Fuzzy == was.Fuzzy || !slices.Equal(c.Flags, was.Flags) {
		return nil
	}
	lines := slices.Collect(strings.Lines(text))
	set, sticky := false, -1 // the first line "#=": a comment for programs before gettext 0.25
	for i, kind := range kinds {
		switch {
		case kind != KindFlags || c.Fuzzy && set:
			continue
		case c.Fuzzy && lines[i][strings.IndexByte(lines[i], '#')+1] == '=':
			if sticky < 0 {
				sticky = i
			}
			continue
		}
		ok := true
		if c.Fuzzy {
			lines[i], set = withFuzzy(lines[i]), true
		} else if lines[i], ok = withoutFuzzy(lines[i]); !ok {
			return nil
		}
	}
	if c.Fuzzy && !set {
		if sticky < 0 {
			return nil
		}
		line := lines[sticky]
		lines[sticky] = line[:strings.IndexByte(line, '#')] + "#, fuzzy" + lineEnd(line, "\n") + line
	}
	return lines
}

// withFuzzy returns a flag line with the flag fuzzy before the others.
func withFuzzy(line string) string {
	at, flag := strings.IndexByte(line, '#')+len("#,"), " fuzzy"
	if len(flagsAt(line)) > 0 {
		if flag += ","; line[at] != ' ' {
			flag += " "
		}
	}
	return line[:at] + flag + line[at:]
}

// withoutFuzzy returns a flag line without that flag and what is between it and the
// next one, "" if it has no other; false if the others would be read differently.
func withoutFuzzy(line string) (string, bool) {
	name := func(f flagAt) string { return line[f.from:f.to] }
	for {
		list := flagsAt(line)
		i := slices.IndexFunc(list, func(f flagAt) bool { return isFuzzy(name(f)) })
		switch {
		case i < 0:
			return line, true
		case len(list) == 1:
			return "", true
		}
		var others []string
		for _, f := range slices.Delete(slices.Clone(list), i, i+1) {
			others = append(others, name(f))
		}
		if i+1 < len(list) {
			line = line[:list[i].from] + line[list[i+1].from:]
		} else {
			line = line[:list[i-1].to] + line[list[i].to:]
		}
		var now []string
		for _, f := range flagsAt(line) {
			now = append(now, name(f))
		}
		if !slices.Equal(now, others) {
			return "", false
		}
	}
}

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
