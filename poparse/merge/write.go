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
