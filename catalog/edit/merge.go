package edit

import (
	"strings"

	"github.com/repoglot/repoglot/catalog"
)

// Outcome is what becomes of an edit.
type Outcome uint8

// The outcomes. Applied and Overruled are in the file afterwards; Done is there
// already. All others stay with the journal.
const (
	// Applied: the repository has the base, and ours is written.
	Applied Outcome = iota + 1
	// Done: the repository has our text.
	Done
	// Overruled: the repository has another text, and ours is written over it, as
	// on_conflict: edit says.
	Overruled
	// Conflict: the repository has another text, which stays.
	Conflict
	// Gone: the repository does not have the string.
	Gone
	// PluralConflict: the file has another number of plural forms than ours.
	PluralConflict
	// ReadOnly: the entry has become read-only.
	ReadOnly
	// Held: msgfmt -c would refuse the file (commit_gate: errors).
	Held
	// Unwritable: the file cannot hold the text, for instance in its charset.
	Unwritable
)

// String returns the name of an outcome, as the journal's resource shows it.
func (o Outcome) String() string {
	names := [...]string{"", "applied", "done", "overruled", "conflict", "gone", "plural-conflict", "read-only", "held", "unwritable"}
	if int(o) < len(names) {
		return names[o]
	}
	return ""
}

// Written reports whether the edit changes the file.
func (o Outcome) Written() bool { return o == Applied || o == Overruled }

// Theirs is what the repository has of a string.
type Theirs struct {
	Text
	// Found says that there is such a string; without it nothing else counts.
	Found bool
	// ReadOnly says that its flags forbid a translation.
	ReadOnly bool
	// Forms is the number of forms that a translation has: 1 without a plural, for a
	// plural what the file's header says; 0 if that is not known.
	Forms int
}

// Policy says which text stays when both differ from the base.
type Policy uint8

// The values of on_conflict.
const (
	// KeepRepository keeps the repository's text; ours becomes a suggestion.
	KeepRepository Policy = iota
	// KeepEdit writes ours.
	KeepEdit
)

// Merge decides about an edit. sent are texts of ours that were sent before and may still
// arrive, the oldest first. The first row that fits counts:
//
//	the repository has             outcome
//	no such string                 Gone
//	our text                       Done
//	a text that was sent           Applied, as with the base; but by the next two rows
//	our text, in another state     Done, unless it is the base's text and state
//	another number of forms        PluralConflict
//	the flag read-only             ReadOnly
//	the base                       Applied
//	a text that was sent, in any   Applied
//	state
//	the base's text, untrans-      Applied if ours is another text: it is what the
//	lated or needing editing       mark asks for
//	another text                   Conflict or Overruled, by the policy
//
// "Our text, in another state": where both sides wrote one text, its state is the
// repository's, whose maintainer may have looked at our request and marked it. "A text that
// was sent": nobody else touched the string, whose text is older than ours. It is the base
// of what was written since, and what the repository has from then on.
//
// An edit that was taken back has the text of before as base and as ours: if a text that
// was sent arrives all the same, it is Applied, which writes the text of before again.
func Merge(base Text, sent []Text, theirs Theirs, ours Text, policy Policy) Outcome {
	forms := 1 + strings.Count(ours.Target, catalog.FormSeparator)
	base, their, ours := base.normal(), theirs.normal(), ours.normal()
	at, exact := Arrived(sent, theirs.Text)
	switch {
	case !theirs.Found:
		return Gone
	case their == ours, !exact && their.Target == ours.Target && their != base:
		return Done
	case theirs.Forms > 0 && forms != theirs.Forms:
		return PluralConflict
	case theirs.ReadOnly:
		return ReadOnly
	case their == base, at >= 0, their.Target == base.Target && !their.State.Translated():
		return Applied
	case policy == KeepEdit:
		return Overruled
	}
	return Conflict
}

// Arrived returns which of the texts that were sent the repository has: the newest, -1 if it
// has none. One in another state counts, unless another is in that state (exact).
func Arrived(sent []Text, theirs Text) (at int, exact bool) {
	at = -1
	their := theirs.normal()
	for i := range sent {
		s := sent[i].normal()
		if s == their || s.Target == their.Target && !exact {
			at, exact = i, s == their
		}
	}
	return at, exact
}
