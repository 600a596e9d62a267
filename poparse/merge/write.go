package merge

import (
	"slices"
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
	extra bool // the text that is kept as obsolete beside the string
}

// side is the one whose source a placed string has.
func (p place) side(r *Row) Side {
	switch {
	case p.extra:
		return r.extra
	case r.source != Base:
		return r.source
	case r.Entry[Ours] != nil:
		return Ours
	}
	return Theirs
}

func (p place) entry(r *Row) *poparse.Entry { return r.Entry[p.side(r)] }
func (p place) obsolete(r *Row) bool        { return p.extra || r.status == obsolete }

// order places the strings: those of the side whose order counts, and after the string that it
// follows there each one that only the other side has there. New obsolete ones are at the end.
func (m *merger) order() {
	s := m.skeleton()
	o := s.other()
	in := func(v Side, r *Row) bool { return r.Entry[v] != nil && statusOf(r.Entry[v]) == r.status }
	after := map[int32][]place{}
	const start = -1
	last := [2]int32{start, start} // the last live and the last obsolete string
	var end []place
	for _, n := range m.rows[o] {
		r := &m.Rows[n]
		k := 0
		if r.status == obsolete {
			k = 1
		}
		switch {
		case r.status == absent:
		case in(s, r):
			last[k] = n
		case !in(o, r):
			end = append(end, place{row: n})
		case k == 1 && last[k] == start:
			end = append(end, place{row: n, from: o})
		default:
			after[last[k]] = append(after[last[k]], place{row: n, from: o})
		}
	}
	m.placed = append(make([]place, 0, len(m.Rows)), after[start]...)
	for _, n := range m.rows[s] {
		switch r := &m.Rows[n]; {
		case in(s, r):
			m.placed = append(append(m.placed, place{row: n, from: s}), after[n]...)
		case r.status != absent && r.Entry[o] == nil:
			end = append(end, place{row: n})
		}
	}
	m.placed = append(m.placed, end...)
	for i := range m.Rows {
		if m.Rows[i].extra != Base {
			m.placed = append(m.placed, place{row: int32(i), extra: true})
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
		if p.extra {
			m.line(m.obsolete(r, r.extra))
		} else {
			m.line(m.text(r))
		}
		if r.Header && m.header == "" {
			m.header = r.verdict.header
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
		m.line(strings.Join(unite(strings.SplitAfter(tail[Base], "\n"), strings.SplitAfter(tail[Ours], "\n"), strings.SplitAfter(tail[Theirs], "\n")), ""))
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

// pure reports whether a side's entry is the merged string.
func (m *merger) pure(r *Row, v Side) bool {
	e := r.Entry[v]
	if e == nil || statusOf(e) != r.status || m.Clashes(r) || r.guess != [3]bool{} || e.Fuzzy != r.fuzzy || !e.Previous.Equal(r.previous) {
		return false
	}
	for _, side := range [...]Side{r.source, r.extracted, r.references, r.flagsFrom} {
		if side != Base && side != v {
			return false
		}
	}
	if r.united && !slices.Equal(lines(e.Comments), r.comments) || !r.united && r.commentsFrom != Base && r.commentsFrom != v {
		return false
	}
	if r.Header {
		return header(e) == r.verdict.header
	}
	return r.text == Base || r.text == v
}

// text is the merged string.
func (m *merger) text(r *Row) string {
	ours, theirs := m.pure(r, Ours), m.pure(r, Theirs)
	switch {
	case ours && theirs:
		return m.bytes(r, m.whole)
	case ours:
		return m.whole(r, Ours)
	case theirs:
		return m.whole(r, Theirs)
	}
	if m.Clashes(r) {
		m.conflicts++
	}
	return m.assemble(r)
}

// bytes is the text of something that both sides have alike: of the side that writes it in
// another way than the base.
func (m *merger) bytes(r *Row, of func(*Row, Side) string) string {
	ours := of(r, Ours)
	if r.Entry[Base] != nil && ours == of(r, Base) {
		return of(r, Theirs)
	}
	return ours
}
