package unit

import (
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// A pull compares the fields of a unit that are in one of its fingerprints with the stored
// unit: those of Unit.Text, whose change makes a change entry, of Unit.Meta, whose change is
// only stored, and of File.Outline, which has what is stored in the layout. A field in none
// of them is never stored when it alone changes. Identity, Source and Context are in none:
// another source is another unit. TestCompared holds the list of the other fields, each with
// the reason.

// textHash is Unit.Text.
func textHash(u *catalog.Unit, h *catalog.Hasher) int64 { return h.Text(u.Target, u.State) }

// noteAndFlags is the part of Unit.Meta that the outline has, too. It is 0 for the units
// without a note and flags, which are most.
func noteAndFlags(u *catalog.Unit, h *catalog.Hasher) int64 {
	if u.Note == "" && u.Flags == "" {
		return 0
	}
	// The translator's part may end elsewhere in the same note.
	return h.Meta(u.Note, u.Flags) + int64(u.TranslatorBytes)
}

// meta is Unit.Meta, given noteAndFlags.
func meta(u *catalog.Unit, noteAndFlags int64, h *catalog.Hasher) int64 {
	if u.PreviousSource == "" && u.Priority == defaultPriority {
		return noteAndFlags
	}
	return noteAndFlags*31 + h.Meta(u.PreviousSource, strconv.Itoa(u.Priority))
}

// outline adds a unit to the outline of the units before it. key is of its identity, note
// and flags. The position is not the number of the unit: repeated entries count, too.
func outline(before, key int64, u *catalog.Unit) int64 {
	return (before*31+key+catalog.Sum(u.Location))*31 + int64(u.Position)
}

// PadForms returns the unit with the forms that are shown of its target, number
// if it is a plural (docs/compatibility.md#plurals): u itself if the target has
// them, else a copy.
func (u *Unit) PadForms(number int, h *catalog.Hasher) *Unit {
	if u.Single {
		return u
	}
	target := catalog.PadForms(u.Source, u.Target, number)
	if len(target) == len(u.Target) {
		return u
	}
	shown := *u
	shown.Target = target
	shown.Text = h.Text(target, u.State)
	return &shown
}

// SetMeta computes u.Meta after a change of one of the fields that it covers.
func SetMeta(u *Unit, h *catalog.Hasher) {
	u.Meta = meta(&u.Unit, noteAndFlags(&u.Unit, h), h)
}

// Detach copies the strings of a unit that are stored in its row, except the
// target, so that they do not keep the text of the file in memory.
func Detach(u *catalog.Unit) {
	for _, s := range []*string{&u.Source, &u.Context, &u.PreviousSource, &u.Note, &u.Flags} {
		*s = strings.Clone(*s)
	}
}

// SetText gives a unit another text, as it will be read from a file of a language with a
// number of plural forms: a previous source is that of a text that needs editing.
func SetText(u *catalog.Unit, target string, state catalog.State, number int) {
	u.Target, u.State = catalog.PadForms(u.Source, catalog.TrimForms(target), number), state
	if !state.Fuzzy() {
		u.PreviousSource = ""
	}
}
