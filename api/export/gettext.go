package export

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// fields is the text of the header entry (gettext manual, "Filling in the Header
// Entry").
func (h *Head) fields() string {
	var b strings.Builder
	field := func(name, value string) {
		b.WriteString(name + ": " + strings.Join(strings.Fields(value), " ") + "\n")
	}
	field("Project-Id-Version", h.LanguageName+" ("+h.ProjectName+")")
	field("Language-Team", h.LanguageName+" <"+h.URL+">")
	field("Language", h.Language)
	field("MIME-Version", "1.0")
	field("Content-Type", "text/plain; charset=UTF-8")
	field("Content-Transfer-Encoding", "8bit")
	field("Plural-Forms", fmt.Sprintf("nplurals=%d; plural=%s;", h.PluralNumber, h.PluralFormula))
	field("X-Generator", "repoglot")
	return b.String()
}

// writePO writes PO (gettext manual, "The Format of PO Files") in UTF-8. It breaks
// lines only after line ends. A unit's note, which joins translators' and extracted
// comments, becomes extracted comments.
func writePO(w io.Writer, head *Head, units Units) error {
	out := bufio.NewWriter(w)
	out.WriteString("msgid \"\"\nmsgstr ")
	writeString(out, "", head.fields())
	for u, err := range units {
		if err != nil {
			return err
		}
		out.WriteString("\n")
		writeEntry(out, head, u)
	}
	return out.Flush()
}

func writeEntry(out *bufio.Writer, head *Head, u *catalog.Unit) {
	if u.Note != "" {
		for line := range strings.SplitSeq(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(u.Note), "\n") {
			out.WriteString(strings.TrimRight("#. "+line, " ") + "\n")
		}
	}
	for _, location := range strings.Split(u.Location, ", ") {
		if location != "" {
			out.WriteString("#: " + strings.Join(strings.Fields(location), " ") + "\n")
		}
	}
	flags := strings.Join(strings.Fields(u.Flags), " ")
	if u.State.Fuzzy() {
		flags = strings.TrimSuffix("fuzzy, "+flags, ", ")
	}
	if flags != "" {
		out.WriteString("#, " + flags + "\n")
	}
	if u.PreviousSource != "" {
		writeForms(out, "#| ", catalog.SplitForms(u.PreviousSource))
	}
	if u.Context != "" {
		out.WriteString("msgctxt ")
		writeString(out, "", u.Context)
	}
	sources := catalog.SplitForms(u.Source)
	writeForms(out, "", sources)
	targets := catalog.TargetForms(u.Source, u.Target, head.PluralNumber)
	if len(sources) == 1 {
		out.WriteString("msgstr ")
		writeString(out, "", targets[0])
		return
	}
	for i, target := range targets {
		fmt.Fprintf(out, "msgstr[%d] ", i)
		writeString(out, "", target)
	}
}

// writeForms writes msgid and msgid_plural; every line begins with prefix.
func writeForms(out *bufio.Writer, prefix string, forms []string) {
	out.WriteString(prefix + "msgid ")
	writeString(out, prefix, forms[0])
	if len(forms) > 1 {
		out.WriteString(prefix + "msgid_plural ")
		writeString(out, prefix, forms[1])
	}
}

// writeString writes a quoted string; several lines begin on a line of their own.
func writeString(out *bufio.Writer, prefix, s string) {
	lines := strings.SplitAfter(s, "\n")
	if len(lines) > 1 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) > 1 {
		out.WriteString("\"\"\n")
	}
	for i, line := range lines {
		if len(lines) > 1 || i > 0 {
			out.WriteString(prefix)
		}
		out.WriteByte('"')
		writeEscaped(out, line)
		out.WriteString("\"\n")
	}
}

// writeEscaped writes the escapes of a C string; control characters without a
// letter become three octal digits.
func writeEscaped(out *bufio.Writer, s string) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out.WriteByte('\\')
			out.WriteByte(c)
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\t':
			out.WriteString(`\t`)
		case c == '\r':
			out.WriteString(`\r`)
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(out, `\%03o`, c)
		default:
			out.WriteByte(c)
		}
	}
}

// moMagic begins a file (gettext manual, "The Format of GNU MO Files").
const moMagic = 0x950412de

// moHead is the length of the header: seven words.
const moHead = 28

// message is an entry of a MO file: its key and its value.
type message [2]string

// writeMO writes the same as msgfmt --no-hash: revision 0, little endian, sorted
// by key; fuzzy and untranslated strings are left out. It holds all messages in
// memory, since the tables of their lengths come first.
func writeMO(w io.Writer, head *Head, units Units) error {
	all := []message{{"", head.fields()}}
	for u, err := range units {
		if err != nil {
			return err
		}
		if m, ok := compiled(head, u); ok {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b message) int { return strings.Compare(a[0], b[0]) })
	if err := writeTables(w, all); err != nil {
		return err
	}
	for part := range 2 {
		for _, m := range all {
			if _, err := io.WriteString(w, m[part]+"\x00"); err != nil {
				return err
			}
		}
	}
	return nil
}

// compiled makes a message of a unit; ok is false if the unit is left out. So are
// units with a NUL, which would end a text.
func compiled(head *Head, u *catalog.Unit) (m message, ok bool) {
	forms := catalog.TargetForms(u.Source, u.Target, head.PluralNumber)
	if u.State.Fuzzy() || forms[0] == "" || strings.Contains(u.Source+u.Context+u.Target, "\x00") {
		return m, false
	}
	key := strings.ReplaceAll(u.Source, catalog.FormSeparator, "\x00")
	if u.Context != "" {
		key = u.Context + "\x04" + key
	}
	return message{key, strings.Join(forms, "\x00")}, true
}

// writeTables writes the header and the two tables of lengths and offsets.
func writeTables(w io.Writer, all []message) error {
	n := len(all)
	words := make([]uint32, 0, moHead/4+4*n)
	tables := moHead + 16*n
	words = append(words, moMagic, 0, uint32(n), moHead, uint32(moHead+8*n), 0, uint32(tables))
	at := tables
	for part := range 2 {
		for _, m := range all {
			length := len(m[part])
			if at > math.MaxInt32-length-1 {
				return fmt.Errorf("write MO: %w: more than 2 GiB of strings", catalog.ErrInvalid)
			}
			words = append(words, uint32(length), uint32(at))
			at += length + 1
		}
	}
	return binary.Write(w, binary.LittleEndian, words)
}
