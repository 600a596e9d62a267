package merge

import (
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

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
