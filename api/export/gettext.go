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
	"github.com/repoglot/repoglot/poparse"
)

// fields is the text of the header entry (gettext manual, "Filling in the Header Entry").
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

// writePO writes PO (gettext manual, "The Format of PO Files") in UTF-8, as msgcat does without
// wrapping. A unit's note, of translators' and extracted comments, becomes extracted ones.
func writePO(w io.Writer, head *Head, units Units) error {
	out := bufio.NewWriter(w)
	out.WriteString(poparse.Render(&poparse.Entry{Str: []string{head.fields()}}))
	for u, err := range units {
		if err != nil {
			return err
		}
		out.WriteString("\n" + poparse.Render(entry(head, u)))
	}
	return out.Flush()
}

func entry(head *Head, u *catalog.Unit) *poparse.Entry {
	sources := append(catalog.SplitForms(u.Source), "")
	e := &poparse.Entry{
		Context: u.Context, HasContext: u.Context != "", ID: sources[0], IDPlural: sources[1], HasPlural: len(sources) > 2,
		Str: catalog.TargetForms(u.Source, u.Target, head.PluralNumber), Fuzzy: u.State.Fuzzy(),
		Flags: list(u.Flags), References: list(u.Location),
	}
	if !e.HasPlural {
		e.Str = e.Str[:1]
	}
	if u.Note != "" {
		e.Extracted = []string{strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(u.Note)}
	}
	if u.PreviousSource != "" {
		forms := append(catalog.SplitForms(u.PreviousSource), "")
		e.Previous = &poparse.Previous{ID: forms[0], IDPlural: forms[1]}
	}
	return e
}

// list splits flags or locations, each on one line.
func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.Join(strings.Fields(s), " "), ", ")
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

// compiled makes a message of a unit, unless it is left out, as those with a NUL are.
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
