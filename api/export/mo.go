package export

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// moMagic begins a file (gettext manual, "The Format of GNU MO Files").
const moMagic = 0x950412de

// moHead is the length of the header: seven words.
const moHead = 28

// message is an entry of a MO file.
type message struct{ key, value string }

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
	slices.SortStableFunc(all, func(a, b message) int { return strings.Compare(a.key, b.key) })
	if err := writeTables(w, all); err != nil {
		return err
	}
	for _, of := range []func(m message) string{keyOf, valueOf} {
		for _, m := range all {
			if _, err := io.WriteString(w, of(m)+"\x00"); err != nil {
				return err
			}
		}
	}
	return nil
}

func keyOf(m message) string   { return m.key }
func valueOf(m message) string { return m.value }

// compiled makes a message of a unit; ok is false if the unit is left out. So are
// units with a NUL, which would end a text.
func compiled(head *Head, u *catalog.Unit) (m message, ok bool) {
	forms := catalog.TargetForms(u.Source, u.Target, head.PluralNumber)
	if u.State.Fuzzy() || forms[0] == "" || strings.Contains(u.Source+u.Context+u.Target, "\x00") {
		return m, false
	}
	m.key = strings.ReplaceAll(u.Source, catalog.FormSeparator, "\x00")
	if u.Context != "" {
		m.key = u.Context + "\x04" + m.key
	}
	m.value = strings.Join(forms, "\x00")
	return m, true
}

// writeTables writes the header and the two tables of lengths and offsets.
func writeTables(w io.Writer, all []message) error {
	n := len(all)
	words := make([]uint32, 0, moHead/4+4*n)
	tables := moHead + 16*n
	words = append(words, moMagic, 0, uint32(n), moHead, uint32(moHead+8*n), 0, uint32(tables))
	at := tables
	for _, of := range []func(m message) string{keyOf, valueOf} {
		for _, m := range all {
			length := len(of(m))
			if at > math.MaxInt32-length-1 {
				return fmt.Errorf("write MO: %w: more than 2 GiB of strings", catalog.ErrInvalid)
			}
			words = append(words, uint32(length), uint32(at))
			at += length + 1
		}
	}
	return binary.Write(w, binary.LittleEndian, words)
}
