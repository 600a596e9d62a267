package export

import (
	"bufio"
	"fmt"
	"io"
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
		for line := range strings.SplitSeq(unixLines(u.Note), "\n") {
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

func unixLines(s string) string {
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
}
