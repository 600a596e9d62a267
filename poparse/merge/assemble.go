package merge

import (
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// kind is a kind of lines of an entry, in msgcat's order.
type kind uint8

const (
	kindComments kind = iota
	kindExtracted
	kindReferences
	kindFlags
	kindPrevious
	kindIDs
	kindStr
	kinds
)

// pieces are the lines of an entry by kind, and in which order the kinds come.
type pieces struct {
	of    [kinds]string
	order []kind
}

// piecesOf takes an entry of a file apart. One of which parts share lines is taken as msgcat
// writes it, without wrapping.
func (m *merger) piecesOf(r *Row, v Side) pieces {
	l := m.layout[v]
	s := l.Spans[r.at[v]-1]
	if p, ok := split(l.Text, &s); ok {
		return p
	}
	if _, l, err := poparse.ParseLayout("", []byte(poparse.Render(s.Entry))); err == nil && len(l.Spans) == 1 {
		l.Spans[0].Entry = s.Entry
		if p, ok := split(l.Text, &l.Spans[0]); ok {
			return p
		}
	}
	return pieces{}
}

// split takes the text of an entry apart; false if parts of it share lines.
func split(text string, s *poparse.Span) (p pieces, ok bool) {
	if !s.Lines {
		return p, false
	}
	k := kindComments
	for line := range strings.Lines(text[s.Comments:s.Previous]) {
		if trimmed := strings.TrimSpace(line); trimmed != "" { // blank lines stay with the line before
			if k = kindComments; len(trimmed) > 1 {
				switch trimmed[1] {
				case '.':
					k = kindExtracted
				case ':':
					k = kindReferences
				case ',', '=':
					k = kindFlags
				case '~', '|', '!':
					return p, false
				}
			}
		}
		if p.of[k] == "" {
			p.order = append(p.order, k)
		}
		p.of[k] += line
	}
	p.of[kindPrevious], p.of[kindIDs], p.of[kindStr] = text[s.Previous:s.IDs], text[s.IDs:s.Str], text[s.Str:s.To]
	for k := kindPrevious; k < kinds; k++ {
		if p.of[k] != "" && !strings.HasSuffix(p.of[k], "\n") {
			p.of[k] += "\n"
		}
		if s.Entry.Obsolete {
			if p.of[k], ok = uncomment(p.of[k]); !ok {
				return p, false
			}
		}
	}
	return p, true
}

// uncomment removes "#~" from lines.
func uncomment(text string) (string, bool) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, "#~")
		if !ok {
			return "", false
		}
		if strings.HasPrefix(rest, "|") {
			rest = "#" + rest
		}
		b.WriteString(strings.TrimPrefix(rest, " "))
	}
	return b.String(), true
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

// assemble writes a string of pieces of both sides.
func (m *merger) assemble(r *Row) string {
	var p [3]pieces
	for v := range p {
		if r.Entry[v] != nil {
			p[v] = m.piecesOf(r, Side(v))
		}
	}
	piece := func(k kind, from Side) string {
		switch {
		case from != Base:
			return p[from].of[k]
		case r.Entry[Ours] == nil:
			return p[Theirs].of[k]
		case r.Entry[Theirs] == nil:
			return p[Ours].of[k]
		}
		return m.bytes(r, func(_ *Row, v Side) string { return p[v].of[k] })
	}
	var out pieces
	mark := ""
	if r.status == obsolete {
		mark = obsoleteMark
	}
	out.of[kindComments] = piece(kindComments, r.commentsFrom)
	if r.united {
		out.of[kindComments] = uniteLines(r.comments, p[Ours].of[kindComments]+p[Theirs].of[kindComments])
	}
	source, text := place{}.side(r), r.text
	for v := range r.guess {
		switch {
		case r.guess[v] && r.Header:
			text := header(r.Entry[v])
			out.of[kindComments] += guessed(Side(v), headerGroups(text, p[v].of[kindStr])[value(fieldsOf(text), plurals)])
		case r.guess[v]:
			out.of[kindComments] += guessed(Side(v), p[v].of[kindStr])
		}
	}
	if text == Base {
		text = source
	}
	if r.status == there || r.extracted == Base || statusOf(r.Entry[r.extracted]) == obsolete {
		out.of[kindExtracted], out.of[kindReferences] = piece(kindExtracted, r.extracted), piece(kindReferences, r.references)
	}
	out.of[kindFlags] = m.flags(r, &p)
	out.of[kindPrevious] = m.previous(r, &p)
	out.of[kindIDs] = piece(kindIDs, r.source)
	switch {
	case r.Header:
		out.of[kindStr] = m.headerLines(r, &p)
	case m.Clashes(r):
		out.of[kindStr] = m.marked(prefixed(mark, m.shaped(r, Ours, source, &p)), prefixed(mark, m.shaped(r, Theirs, source, &p)))
	case r.text == Base:
		out.of[kindStr] = piece(kindStr, r.text)
	default:
		out.of[kindStr] = m.shaped(r, text, source, &p)
	}
	var b strings.Builder
	first := slices.Clone(p[source].order)
	for k := kindComments; k < kindPrevious; k++ {
		if !slices.Contains(first, k) {
			at := slices.IndexFunc(first, func(o kind) bool { return o > k })
			if at < 0 {
				at = len(first)
			}
			first = slices.Insert(first, at, k)
		}
	}
	for _, k := range append(first, kindPrevious, kindIDs, kindStr) {
		if k == kindPrevious || k == kindIDs || k == kindStr && !m.Clashes(r) {
			out.of[k] = prefixed(mark, out.of[k])
		}
		b.WriteString(out.of[k])
	}
	return b.String()
}

// uniteLines writes lines of comments as they are in a text.
func uniteLines(comments []string, text string) string {
	raw := map[string]string{}
	for line := range strings.Lines(text) {
		value := strings.TrimPrefix(strings.TrimRight(strings.TrimPrefix(line, "#"), "\r\n"), " ")
		if _, ok := raw[value]; !ok {
			raw[value] = line
		}
	}
	var b strings.Builder
	for _, c := range comments {
		line, ok := raw[c]
		if !ok {
			line = strings.TrimRight("# "+c, " ") + "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// guessed writes a text of a side as a comment.
func guessed(side Side, text string) string {
	return "# " + sideNames[side] + ":\n" + prefixed("# ", text)
}

// flags are the lines of flags: of the side that has them, with fuzzy as it is to be.
func (m *merger) flags(r *Row, p *[3]pieces) string {
	from := r.flagsFrom
	for _, v := range [...]Side{r.text, Ours, Theirs} {
		e := r.Entry[v]
		if v != Base && e != nil && e.Fuzzy == r.fuzzy && (r.flagsFrom == v || r.flagsFrom == Base) {
			return p[v].of[kindFlags]
		}
		if from == Base && e != nil {
			from = v
		}
	}
	var list []string
	if r.fuzzy {
		list = append(list, "fuzzy")
	}
	if list = append(list, r.Entry[from].Flags...); len(list) == 0 {
		return ""
	}
	return "#, " + strings.Join(list, ", ") + "\n"
}

// previous are the "#|" lines: of a side, or of the source that the text was made for.
func (m *merger) previous(r *Row, p *[3]pieces) string {
	if r.previous == nil {
		return ""
	}
	for _, v := range [...]Side{r.text, Ours, Theirs} {
		if e := r.Entry[v]; v != Base && e != nil && e.Previous.Equal(r.previous) {
			return p[v].of[kindPrevious]
		}
	}
	return prefixed("#| ", p[r.text].of[kindIDs])
}

// shaped is the msgstr of a side for the source of another: with a number or without.
func (m *merger) shaped(r *Row, text, source Side, p *[3]pieces) string {
	e, s := r.Entry[text], r.Entry[source]
	if e.HasPlural == s.HasPlural {
		return p[text].of[kindStr]
	}
	written := poparse.Render(reshape(e, s))
	return written[strings.Index("\n"+written, "\nmsgstr"):]
}

// reshape gives a text the number of forms that another source wants.
func reshape(text, source *poparse.Entry) *poparse.Entry {
	e := &poparse.Entry{ID: "x", HasPlural: source.HasPlural, IDPlural: "x", Str: []string{""}}
	if len(text.Str) > 0 {
		e.Str = text.Str[:1]
	}
	if source.HasPlural {
		e.Str = slices.Repeat(e.Str, max(1, len(source.Str)))
	}
	return e
}

// obsolete is the text of a side's entry as one that is not used any more.
func (m *merger) obsolete(r *Row, v Side) string {
	p := m.piecesOf(r, v)
	return p.of[kindComments] + p.of[kindFlags] + prefixed(obsoleteMark, p.of[kindPrevious]+p.of[kindIDs]+p.of[kindStr])
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
func (m *merger) headerLines(r *Row, p *[3]pieces) string {
	var groups [3]map[string]string
	for v := Ours; v <= Theirs; v++ {
		groups[v] = headerGroups(header(r.Entry[v]), p[v].of[kindStr])
	}
	var b strings.Builder
	b.WriteString("msgstr \"\"\n")
	for _, f := range fieldsOf(r.verdict.header) {
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
