package edit

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/merge"
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

// Merge decides about an edit; overrule is on_conflict: edit. sent are texts of ours that were sent before and may still
// arrive, the oldest first. The first row that fits counts:
//
//	the repository has             outcome
//	no such string                 Gone; untranslated if the template has it and the base
//	                               is not in the file
//	our text                       Done
//	a text that was sent           Applied, as with the base; but by the next two rows
//	our text, in another state     Done, unless it is the base's text and state
//	another number of forms        PluralConflict
//	the flag read-only             ReadOnly
//	the base                       Applied
//	a text that was sent, in any   Applied
//	state
//	what ours beats                Applied
//	any text needing editing       Applied if the base is not in the file: msgmerge added it
//	another text, or none          Conflict, or Overruled with overrule
//
// [merge.Choose] says what ours beats: the base's text if somebody marked it, for instance.
// "Our text, in another state": where both sides wrote one text, its state is the
// repository's, whose maintainer may have looked at our request and marked it. "A text that
// was sent": nobody else touched the string, whose text is older than ours. It is the base
// of what was written since, and what the repository has from then on.
//
// An edit that was taken back has the text of before as base and as ours: if a text that
// was sent arrives all the same, it is Applied, which writes the text of before again.
func Merge(base Text, sent []Text, theirs Theirs, ours Text, overrule bool) Outcome {
	forms := 1 + strings.Count(ours.Target, catalog.FormSeparator)
	lacked := base.Absent()
	base, their, ours := base.normal(), theirs.normal(), ours.normal()
	at, exact := Arrived(sent, theirs.Text)
	wins, clash := merge.Choose(base.merged(lacked), ours.merged(false), their.merged(false))
	emptied := their.Target == "" && base.Target != ""
	switch {
	case !theirs.Found:
		return Gone
	case their == ours, !exact && their.Target == ours.Target && their != base:
		return Done
	case theirs.Forms > 0 && forms != theirs.Forms:
		return PluralConflict
	case theirs.ReadOnly:
		return ReadOnly
	case at >= 0, wins == merge.Ours && !emptied, clash && lacked && their.State == catalog.StateFuzzy:
		return Applied
	case overrule:
		return Overruled
	}
	return Conflict
}

func (t Text) merged(absent bool) merge.Text {
	return merge.Text{Forms: catalog.SplitForms(t.Target), Fuzzy: t.State == catalog.StateFuzzy, Absent: absent}
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

// IsMerge reports whether a PO file is what merging two others can give that were made of a
// base: each part of each entry, and each field of the header, comes from the file that
// changed it, and from one of them if both did. A file that cannot be read is no merge.
func IsMerge(data, base, one, other []byte) bool {
	var files [4]*poparse.File
	for i, text := range [][]byte{data, base, one, other} {
		var err error
		if files[i], err = poparse.Parse("", text); err != nil {
			return false
		}
	}
	var entries [4]map[string]*poparse.Entry
	keys := map[string]bool{}
	for i, f := range files {
		entries[i] = byKey(f)
		for key := range entries[i] {
			keys[key] = true
		}
	}
	for key := range keys {
		for _, part := range parts {
			var values [4]any
			for i := range entries {
				if e := entries[i][key]; e != nil {
					values[i] = part(e)
				}
			}
			if !isMerged(values) {
				return false
			}
		}
	}
	for _, field := range headerOf(files[0]) {
		if !slices.Contains(headerOf(files[2]), field) && !slices.Contains(headerOf(files[3]), field) {
			return false
		}
	}
	return true
}

// parts are what a merge takes of an entry as a whole.
var parts = []func(*poparse.Entry) any{
	func(e *poparse.Entry) any { return []any{e.Str, e.Fuzzy, e.Previous} },
	func(e *poparse.Entry) any { return []any{e.Comments, e.Flags} },
	func(e *poparse.Entry) any { return []any{e.HasPlural, e.IDPlural, e.References, e.Extracted} },
}

// isMerged reports whether the first value follows from the base and the two others.
func isMerged(values [4]any) bool {
	is := func(i, j int) bool { return reflect.DeepEqual(values[i], values[j]) }
	switch {
	case is(2, 1):
		return is(0, 3)
	case is(3, 1):
		return is(0, 2)
	}
	return is(0, 2) || is(0, 3)
}

// byKey returns the entries of a file by what tells them apart.
func byKey(f *poparse.File) map[string]*poparse.Entry {
	entries := make(map[string]*poparse.Entry, len(f.Entries))
	for _, e := range f.Entries {
		entries[fmt.Sprintf("%s\x00%s\x00%s\x00%t%t%t", e.Domain, e.Context, e.ID, e.HasContext, e.Obsolete, e.Duplicate)] = e
	}
	return entries
}

// headerOf returns the fields of a header.
func headerOf(f *poparse.File) []string {
	if f.Header == nil || len(f.Header.Str) == 0 {
		return nil
	}
	return strings.Split(f.Header.Str[0], "\n")
}
