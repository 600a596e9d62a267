package unit

import (
	"strconv"
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// compared holds the fields of a unit that a pull compares with the stored unit.
// A field that is in none of its parts is never stored when it alone changes.
// TestCompared holds the list of the other fields, each with the reason.
type compared struct {
	text
	metadata
	layoutFields
}

// text is what Unit.Text covers. A change of it makes a change entry.
type text struct {
	target string
	state  catalog.State
}

// metadata is what Unit.Meta covers, and File.Outline through noteAndFlags. A
// change of it is stored and makes no change entry.
type metadata struct {
	note, flags, previousSource string
	translatorBytes, priority   int
}

// layoutFields are covered only by File.Outline, and stored in the layout.
type layoutFields struct {
	location string
	position int
}

// fields names every field of a unit that is compared. Identity, Source and
// Context are not: another source is another unit.
func fields(u *catalog.Unit) compared {
	return compared{
		text: text{target: u.Target, state: u.State},
		metadata: metadata{
			note: u.Note, flags: u.Flags, previousSource: u.PreviousSource, translatorBytes: u.TranslatorBytes, priority: u.Priority,
		},
		layoutFields: layoutFields{location: u.Location, position: u.Position},
	}
}

func (t *text) hash(h *catalog.Hasher) int64 { return h.Text(t.target, t.state) }

// noteAndFlags is the part of a metadata's hash that the outline has, too. It
// is 0 for the units without a note and flags, which are most.
func (m *metadata) noteAndFlags(h *catalog.Hasher) int64 {
	if m.note == "" && m.flags == "" {
		return 0
	}
	// The translator's part may end elsewhere in the same note.
	return h.Meta(m.note, m.flags) + int64(m.translatorBytes)
}

// hash returns the fingerprint, given noteAndFlags.
func (m *metadata) hash(noteAndFlags int64, h *catalog.Hasher) int64 {
	if m.previousSource == "" && m.priority == defaultPriority {
		return noteAndFlags
	}
	return noteAndFlags*31 + h.Meta(m.previousSource, strconv.Itoa(m.priority))
}

// outline adds a unit to the outline of the units before it. key is of its identity, note
// and flags. The position is not the number of the unit: repeated entries count, too.
func (p *layoutFields) outline(before, key int64) int64 {
	return (before*31+key+catalog.Sum(p.location))*31 + int64(p.position)
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
	f := fields(&u.Unit)
	u.Meta = f.metadata.hash(f.noteAndFlags(h), h)
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
