package merge

import (
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// merger writes the merged file.
type merger struct {
	*Table
	layout     [3]*poparse.Layout
	open, crlf bool // the last line has no end; lines end as on Windows
	placed     []place
	conflicts  int
	header     string // the merged one
	out        strings.Builder
}

// place is a string in the order of the merged file, and the side that has it there: Base if
// none has.
type place struct {
	row   int32
	from  Side
	entry *poparse.Entry // the merged string, or what is kept as obsolete beside it
}

// order places the strings: those of the side whose order counts, and after the string that it
// follows there each one that only the other side has there. New obsolete ones are at the end.
func (m *merger) order() {
	s := m.skeleton()
	o := s.other()
	in := func(v Side, r *Row) bool { return r.Entry[v] != nil && statusOf(r.Entry[v]) == statusOf(r.merged) }
	after := map[int32][]place{}
	const start = -1
	last := [2]int32{start, start} // the last live and the last obsolete string
	var end []place
	for _, n := range m.rows[o] {
		r := &m.Rows[n]
		k := 0
		if statusOf(r.merged) == obsolete {
			k = 1
		}
		switch {
		case r.merged == nil:
		case in(s, r):
			last[k] = n
		case !in(o, r):
			end = append(end, place{n, Base, r.merged})
		case k == 1 && last[k] == start:
			end = append(end, place{n, o, r.merged})
		default:
			after[last[k]] = append(after[last[k]], place{n, o, r.merged})
		}
	}
	m.placed = append(make([]place, 0, len(m.Rows)), after[start]...)
	for _, n := range m.rows[s] {
		switch r := &m.Rows[n]; {
		case in(s, r):
			m.placed = append(append(m.placed, place{n, s, r.merged}), after[n]...)
		case r.merged != nil && r.Entry[o] == nil:
			end = append(end, place{n, Base, r.merged})
		}
	}
	m.placed = append(m.placed, end...)
	for i := range m.Rows {
		if e := m.Rows[i].extra; e != nil {
			m.placed = append(m.placed, place{int32(i), Base, e})
		}
	}
}

// skeleton is the side whose order counts: the one that changed it, else the newer template's.
func (m *merger) skeleton() Side {
	var same, moved [3]bool
	for v := Ours; v <= Theirs; v++ {
		last := int32(0)
		same[v] = len(m.entries[v]) == len(m.entries[Base])
		for i, n := range m.rows[v] {
			r := &m.Rows[n]
			at, kept := r.at[Base], statusOf(r.Entry[v]) == statusOf(r.Entry[Base])
			same[v] = same[v] && kept && int(at) == i+1
			if at > 0 && kept {
				moved[v] = moved[v] || at < last
				last = at
			}
		}
	}
	switch {
	case same[Ours], moved[Theirs] && !moved[Ours] && !same[Theirs]:
		return Theirs
	case moved[Ours] && moved[Theirs] && !same[Theirs]:
		return m.template
	}
	return Ours
}

// write returns the merged file with lines that end with "\n" where none was copied.
func (m *merger) write() string {
	m.order()
	m.out.Grow(len(m.layout[Ours].Text) + len(m.layout[Theirs].Text)/8)
	for i, p := range m.placed {
		r := &m.Rows[p.row]
		if i > 0 || p.from != Base && r.at[p.from] == 1 {
			m.line(m.gap(p, r, i == 0))
		}
		m.line(m.text(r, p.entry))
		if r.Header && m.header == "" {
			m.header = header(r.merged)
		}
	}
	tail := [3]string{}
	for v, l := range m.layout {
		at := 0
		if n := len(l.Spans); n > 0 {
			at = l.Spans[n-1].To
		}
		tail[v] = l.Text[at:]
	}
	v := threeWay(tail[Base], tail[Ours], tail[Theirs], Base)
	if v != Base {
		m.line(tail[v])
	} else {
		m.line(uniteLines(tail))
	}
	return m.out.String()
}

// line writes text that begins a line.
func (m *merger) line(text string) {
	if s := m.out.String(); text != "" && s != "" && s[len(s)-1] != '\n' {
		m.out.WriteByte('\n')
	}
	m.out.WriteString(text)
}

// gap is what is before a string: blank lines.
func (m *merger) gap(p place, r *Row, first bool) string {
	of := func(v Side) (string, bool) {
		i := r.at[v] - 1
		if v == Base && r.Entry[Base] == nil || i < 0 {
			return "", false
		}
		spans := m.layout[v].Spans
		if i == 0 {
			return m.layout[v].Text[:spans[i].Comments], first
		}
		return m.layout[v].Text[spans[i-1].To:spans[i].Comments], true
	}
	if p.from == Base {
		return "\n"
	}
	own, ok := of(p.from)
	if !ok && !first {
		return "\n"
	}
	base, inBase := of(Base)
	other, inOther := of(p.from.other())
	if ok && inBase && inOther && own == base {
		return other
	}
	return own
}

// whole is the text of a side's entry.
func (m *merger) whole(r *Row, v Side) string {
	s := &m.layout[v].Spans[r.at[v]-1]
	return m.layout[v].Text[s.Comments:s.To]
}

// text is a string: as a side has it, or of parts of both.
func (m *merger) text(r *Row, e *poparse.Entry) string {
	clash := e == r.merged && m.Clashes(r)
	if clash {
		m.conflicts++
	}
	if clash || e == r.merged && r.guess != [3]bool{} {
		return m.assemble(r, e)
	}
	text, ok := m.bytes(r, func(v Side) bool {
		was := r.Entry[v]
		return was == e || was != nil && was.Obsolete == e.Obsolete && poparse.Alike(was, e) == poparse.AllKinds
	}, func(v Side) string { return m.whole(r, v) })
	if !ok {
		return m.assemble(r, e)
	}
	return text
}

// bytes is something of a string, in the bytes of a side that has it; of both the one that
// writes it in another way than the base.
func (m *merger) bytes(r *Row, has func(Side) bool, of func(Side) string) (text string, ok bool) {
	ours, theirs := has(Ours), has(Theirs)
	if theirs && (!ours || r.Entry[Base] != nil && of(Ours) == of(Base)) {
		return of(Theirs), true
	}
	if !ours {
		return "", false
	}
	return of(Ours), true
}

// obsoleteMark is before the lines of an obsolete entry.
const obsoleteMark = "#~ "

// prefixed puts a mark before each line.
func prefixed(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if mark == obsoleteMark && strings.HasPrefix(line, "#|") {
			b.WriteString("#~" + line[1:])
			continue
		}
		b.WriteString(mark + line)
	}
	return b.String()
}

// assemble writes a string of the lines of both sides, and anew what neither has.
func (m *merger) assemble(r *Row, e *poparse.Entry) string {
	var has [3]poparse.Lines
	var alike [3]poparse.KindSet
	var order []poparse.Kind
	for v, was := range r.Entry {
		if was == nil {
			continue
		}
		alike[v] = poparse.Alike(e, was)
		lines, kinds := m.layout[v].Lines(&m.layout[v].Spans[r.at[v]-1])
		if has[v] = lines; v > 0 && order == nil && alike[v].Has(poparse.KindIDs) {
			order = kinds
		}
	}
	clash, out := e == r.merged && m.Clashes(r), poparse.LinesOf(e)
	for k := range poparse.Kinds {
		text, ok := m.bytes(r, func(v Side) bool { return alike[v].Has(k) }, func(v Side) string { return has[v][k] })
		switch {
		case r.Header && k == poparse.KindStr && (clash || !ok):
			out[k] = m.headerLines(r, &has)
		case ok:
			out[k] = text
		case k == poparse.KindComments:
			out[k] = uniteLines([3]string{has[Base][k], has[Ours][k], has[Theirs][k]})
		case k == poparse.KindPrevious && e.Previous != nil: // the source that the text was made for
			out[k] = prefixed("#| ", has[r.text][poparse.KindIDs])
		}
		if e.Obsolete && k >= poparse.KindPrevious {
			out[k] = prefixed(obsoleteMark, out[k])
		}
	}
	if clash && !r.Header {
		out[poparse.KindStr] = m.marked(out[poparse.KindStr], theirText(r, has[Theirs][poparse.KindStr]))
	}
	for v := range r.guess {
		if text := has[v][poparse.KindStr]; e == r.merged && r.guess[v] {
			if r.Header {
				text = headerGroups(header(r.Entry[v]), text)[value(fieldsOf(header(r.Entry[v])), plurals)]
			}
			out[poparse.KindComments] += guessed(Side(v), text)
		}
	}
	text := ""
	for _, k := range order {
		text += out[k]
	}
	return text
}

// theirText is the msgstr of theirs in a conflict, for the source of the merged string.
func theirText(r *Row, text string) string {
	other, e := *r, *r.merged
	other.merged = &e
	if other.take(Theirs); !poparse.Alike(&e, r.Entry[Theirs]).Has(poparse.KindStr) {
		text = poparse.LinesOf(&e)[poparse.KindStr]
	}
	if e.Obsolete {
		return prefixed(obsoleteMark, text)
	}
	return text
}

// uniteLines is unite of texts.
func uniteLines(texts [3]string) string {
	var list [3][]string
	for v, text := range texts {
		list[v] = strings.SplitAfter(text, "\n")
	}
	return strings.Join(unite(list[Base], list[Ours], list[Theirs]), "")
}

// guessed writes a text of a side as a comment.
func guessed(side Side, text string) string {
	return "# " + sideNames[side] + ":\n" + prefixed("# ", text)
}

// marked writes a conflict.
func (m *merger) marked(ours, theirs string) string {
	n := m.MarkerSize
	if n <= 0 {
		n = 7
	}
	return strings.Repeat("<", n) + " ours\n" + ours + strings.Repeat("=", n) + "\n" + theirs + strings.Repeat(">", n) + " theirs\n"
}

// headerLines writes the msgstr of a header, of the lines of both.
func (m *merger) headerLines(r *Row, has *[3]poparse.Lines) string {
	var groups [3]map[string]string
	for v := Ours; v <= Theirs; v++ {
		groups[v] = headerGroups(header(r.Entry[v]), has[v][poparse.KindStr])
	}
	var b strings.Builder
	b.WriteString("msgstr \"\"\n")
	for _, f := range fieldsOf(header(r.merged)) {
		ours, theirs := groups[Ours][f.line], groups[Theirs][f.line]
		switch {
		case m.Clashes(r) && f.name == plurals:
			b.WriteString(m.marked(ours, groups[Theirs][value(fieldsOf(header(r.Entry[Theirs])), plurals)]))
		case ours != "":
			b.WriteString(ours)
		case theirs != "":
			b.WriteString(theirs)
		default:
			b.WriteString(quoted(f.line))
		}
	}
	return b.String()
}

// headerGroups maps the lines of a header to their lines in the file; those that are not on
// lines of their own are written anew.
func headerGroups(text, str string) map[string]string {
	groups, list, at := map[string]string{}, fieldsOf(text), 0
	var written []string
	for line := range strings.Lines(strings.TrimPrefix(str, "msgstr ")) {
		if at == 0 && len(written) == 0 && strings.TrimSpace(line) == `""` {
			continue
		}
		if len(written) == at {
			written = append(written, "")
		}
		written[at] += line
		if strings.HasSuffix(strings.TrimRight(line, " \t\r\n"), `\n"`) {
			at++
		}
	}
	for i, f := range list {
		if groups[f.line] = quoted(f.line); len(written) == len(list) && strings.Count(written[i], `\n`) == strings.Count(f.line, "\n") {
			groups[f.line] = written[i]
		}
	}
	return groups
}

// quoted writes a line of a string.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(s) + "\"\n"
}
