package merge

import (
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// header returns the text of a header.
func header(e *poparse.Entry) string {
	if e == nil || len(e.Str) == 0 {
		return ""
	}
	return e.Str[0]
}

// field is a line of a header; without a name it is another line.
type field struct{ name, line string }

// fieldsOf returns the lines of a header.
func fieldsOf(text string) (list []field) {
	for line := range strings.Lines(text) {
		name, _, ok := strings.Cut(line, ":")
		if name = strings.ToLower(strings.TrimSpace(name)); !ok || slices.ContainsFunc(list, func(f field) bool { return f.name == name }) {
			name = "\x00" + line
		}
		list = append(list, field{name, line})
	}
	return list
}

// value returns the line of a field, "" without it.
func value(list []field, name string) string {
	for _, f := range list {
		if f.name == name {
			return f.line
		}
	}
	return ""
}

const (
	revised    = "po-revision-date"
	translator = "last-translator"
	created    = "pot-creation-date"
	plurals    = "plural-forms"
)

// mergeHeader merges the headers field by field, in the order of ours, and reports whether
// Plural-Forms clash; ours are in the text then.
func (t *Table) mergeHeader(r *Row) (clash bool) {
	h := [3][]field{}
	for v, e := range r.Entry {
		h[v] = fieldsOf(header(e))
	}
	date := func(name string) Side {
		_, o, _ := strings.Cut(value(h[Ours], name), ":")
		_, t, _ := strings.Cut(value(h[Theirs], name), ":")
		return newer(o, t)
	}
	last := threeWay(value(h[Base], revised)+value(h[Base], translator), value(h[Ours], revised)+value(h[Ours], translator), value(h[Theirs], revised)+value(h[Theirs], translator), date(revised))
	side := func(name string) Side {
		both := last
		switch name {
		case revised, translator:
			return last
		case created:
			both = date(created)
		case "project-id-version", "report-msgid-bugs-to":
			both = t.template
		case plurals:
			both = Base
		}
		ours, theirs := value(h[Ours], name), value(h[Theirs], name)
		v := threeWay(value(h[Base], name), ours, theirs, both)
		if v == Base { // Plural-Forms, which clash unless only blanks differ
			clash = strings.Join(strings.Fields(ours), "") != strings.Join(strings.Fields(theirs), "")
			if v = Ours; t.Favor == FavorTheirs {
				v = Theirs
			}
		}
		return v
	}
	var b strings.Builder
	write := func(line string) {
		if s := b.String(); line != "" && s != "" && !strings.HasSuffix(s, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	for i, f := range h[Ours] {
		write(value(h[side(f.name)], f.name))
		for j := range h[Theirs] { // what only theirs has, after the same field as there
			if j > 0 && h[Theirs][j-1].name == f.name || i == 0 && j == 0 {
				for ; j < len(h[Theirs]) && value(h[Ours], h[Theirs][j].name) == ""; j++ {
					write(value(h[side(h[Theirs][j].name)], h[Theirs][j].name))
				}
			}
		}
	}
	if len(h[Ours]) == 0 {
		b.WriteString(header(r.Entry[Theirs]))
	}
	r.merged.Str = []string{b.String()}
	if t.pick(r, FieldState) == Theirs {
		r.merged.Fuzzy = r.Entry[Theirs].Fuzzy
	}
	return clash
}

// misnumbered marks texts of a side whose header has another number of plural forms than the
// merged one.
func (t *Table) misnumbered() {
	i := slices.IndexFunc(t.Rows, func(r Row) bool { return r.Header })
	if i < 0 || t.Clashes(&t.Rows[i]) {
		return
	}
	merged := poparse.File{Header: t.Rows[i].merged}
	is, known := merged.PluralForms()
	for v := Ours; v <= Theirs; v++ {
		if was, ok := t.files[v].PluralForms(); !known || !ok || was.Number == is.Number {
			continue
		}
		for i := range t.Rows {
			r := &t.Rows[i]
			if r.text == v && statusOf(r.merged) == there && r.Entry[v].HasPlural && !TextOf(r.Entry[v]).Empty() && !t.Clashes(r) {
				e := *r.merged
				e.Fuzzy = true
				r.merged = &e
			}
		}
	}
}

// threeWay says whose a value is, and both for values that both sides changed.
func threeWay[T comparable](base, ours, theirs T, both Side) Side {
	switch {
	case ours == theirs, theirs == base:
		return Ours
	case ours == base:
		return Theirs
	}
	return both
}
