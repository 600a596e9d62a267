package merge

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// ErrUnreadable marks files that are not merged by meaning; git's line merge is left to the
// caller. Its message says which file, and why.
var ErrUnreadable = errors.New("not merged by meaning")

// Result is a merged file.
type Result struct {
	// Data is the file; with conflict markers if there are Conflicts.
	Data []byte
	// Strings is how many strings a side changed, the header among them.
	Strings int
	// Conflicts is how many strings have conflict markers.
	Conflicts int
	// Table has all strings; nil if a side is the base, or as the other: Data is that side then.
	Table *Table
}

// Files merges the bytes of three files. A missing base is empty. The error is ErrUnreadable.
func Files(base, ours, theirs []byte, o Options) (Result, error) {
	switch {
	case bytes.Equal(base, theirs), bytes.Equal(ours, theirs):
		return Result{Data: ours}, nil
	case bytes.Equal(base, ours):
		return Result{Data: theirs}, nil
	}
	return files([3][]byte{base, ours, theirs}, o)
}

var sideNames = [3]string{"the base", "ours", "theirs"}

// numbered finds escapes that are bytes of a charset.
var numbered = regexp.MustCompile(`\\([0-7]|x[0-9A-Fa-f])`)

// files merges files without looking whether two are the same.
func files(data [3][]byte, o Options) (Result, error) {
	m := &merger{}
	m.end(data[:])
	t := &Table{Options: o}
	for v := range data {
		f, l, err := readFile(data[v])
		if err != nil {
			return Result{}, fmt.Errorf("%w: %s: %w", ErrUnreadable, sideNames[v], err)
		}
		t.files[v], m.layout[v], t.entries[v] = f, l, make([]*poparse.Entry, 0, len(l.Spans))
		for i := range l.Spans {
			t.entries[v] = append(t.entries[v], l.Spans[i].Entry)
		}
	}
	for v, l := range m.layout {
		if v > 0 && data[Base] != nil && !l.SameEncoding(m.layout[v-1]) && (numbered.MatchString(l.Text) || numbered.MatchString(m.layout[v-1].Text)) {
			return Result{}, fmt.Errorf("%w: %s: the charset differs, and there are escapes of bytes", ErrUnreadable, sideNames[v])
		}
	}
	t.fill()
	m.Table = t
	text, err := m.encode(m.write())
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	r := Result{Data: text, Conflicts: m.conflicts, Table: t}
	for i := range t.Rows {
		if t.Rows[i].Outcome != Unchanged {
			r.Strings++
		}
	}
	if r.Conflicts == 0 {
		err = m.verify(text)
	}
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return r, nil
}

// readFile reads a file that can be merged: of entries on lines of their own, in one domain.
func readFile(data []byte) (*poparse.File, *poparse.Layout, error) {
	if len(data) > maxBytes {
		return nil, nil, fmt.Errorf("%d bytes, more than %d", len(data), maxBytes)
	}
	f, l, err := poparse.ParseLayout("", data)
	var syntax *poparse.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, nil, fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
	case err != nil:
		return nil, nil, err
	case f.CommentsBehind || !l.Exact():
		return nil, nil, errors.New("it has comments behind strings, or bytes that cannot be written again")
	}
	at := 0
	for _, s := range l.Spans {
		if s.Entry.Domain != "" || s.Comments > 0 && l.Text[s.Comments-1] != '\n' || strings.TrimSpace(l.Text[at:s.Comments]) != "" {
			return nil, nil, fmt.Errorf("line %d: it has domains, or two entries on a line", s.Entry.Line)
		}
		at = s.To
	}
	for _, w := range f.Warnings {
		if w.Code == poparse.WarnTooMany {
			return nil, nil, errors.New(w.Msg)
		}
	}
	return f, l, nil
}

// lineEnd is how the lines of a file end, "" if it has none; mixed says that some end otherwise.
func lineEnd(data []byte) (end string, mixed bool) {
	switch all, cr := bytes.Count(data, []byte("\n")), bytes.Count(data, []byte("\r\n")); {
	case all == 0:
		return "", false
	case cr == 0:
		return "\n", false
	default:
		return "\r\n", cr < all
	}
}

// end merges how lines end, and whether the last one does, and removes both from the files.
func (m *merger) end(data [][]byte) {
	var ends [3]string
	var open [3]bool
	anyMixed := false
	for v := range data {
		end, mixed := lineEnd(data[v])
		ends[v], open[v] = end, len(data[v]) > 0 && !bytes.HasSuffix(data[v], []byte("\n"))
		anyMixed = anyMixed || mixed || bytes.IndexByte(data[v], 0) >= 0
	}
	m.open = open[Ours]
	if open[Ours] == open[Base] && len(data[Base]) > 0 || len(data[Ours]) == 0 {
		m.open = open[Theirs]
	}
	if anyMixed { // each copied line ends as it did
		m.open = false
		return
	}
	const crlf = "\r\n"
	m.crlf = ends[Ours] == crlf
	if ends[Ours] == ends[Base] || ends[Ours] == "" {
		m.crlf = ends[Theirs] == crlf
	}
	for v := range data {
		if ends[v] == crlf {
			data[v] = bytes.ReplaceAll(data[v], []byte("\r\n"), []byte("\n"))
		}
		if open[v] {
			data[v] = append(bytes.Clone(data[v]), '\n')
		}
	}
}

// encode returns the file in the charset that its header names.
func (m *merger) encode(text string) ([]byte, error) {
	if m.open && m.conflicts == 0 {
		text = strings.TrimSuffix(text, "\n")
	}
	if m.crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	const name = "content-type"
	v := Ours
	var types [3]string
	for i, f := range m.files {
		types[i] = value(fieldsOf(header(f.Header)), name)
	}
	switch now := value(fieldsOf(m.header), name); {
	case now != types[Ours] && now == types[Theirs], m.layout[Ours].Text == "",
		now == types[Theirs] && m.layout[Ours].SameEncoding(m.layout[Base]):
		v = Theirs
	}
	data, err := m.layout[v].Encode(text)
	if err != nil && types[Ours] == types[Theirs] { // one of them has ASCII only
		data, err = m.layout[v.other()].Encode(text)
	}
	return data, err
}

// verify reports whether a merged file is read as the strings that were to be written.
func (m *merger) verify(data []byte) error {
	f, err := poparse.Parse("", data)
	if err != nil {
		return fmt.Errorf("the result cannot be read: %w", err)
	}
	list := f.Entries
	for _, p := range m.placed {
		if isHeader(p.entry) {
			continue
		}
		if len(list) > 0 {
			e := list[0]
			same := poparse.Alike(e, p.entry)
			if list = list[1:]; same.Has(poparse.KindIDs) && same.Has(poparse.KindStr) && e.Obsolete == p.entry.Obsolete && e.Fuzzy == p.entry.Fuzzy {
				continue
			}
		}
		return fmt.Errorf("the string of line %d would not be read back", p.entry.Line)
	}
	if len(list) > 0 {
		return fmt.Errorf("%d strings more would be read than were written", len(list))
	}
	return nil
}
