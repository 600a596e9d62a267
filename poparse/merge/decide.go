package merge

import (
	"slices"
	"strings"
	"time"

	"github.com/repoglot/repoglot/poparse"
)

// status is whether a string is in a file.
type status uint8

const (
	absent status = iota
	obsolete
	there
)

func statusOf(e *poparse.Entry) status {
	switch {
	case e == nil:
		return absent
	case e.Obsolete:
		return obsolete
	}
	return there
}

// verdict says whose the fields of a merged string are. Base is: both have the same.
type verdict struct {
	status                                         status
	source, text, extracted, references, flagsFrom Side
	commentsFrom                                   Side
	// comments are the translator's comments, if they are of both sides.
	comments []string
	united   bool
	// fuzzy and previous are the state; previous is also that of the string of a side.
	fuzzy    bool
	previous *poparse.Previous
	// extra is the side whose text is kept as obsolete beside the string.
	extra Side
	// guess are the sides whose text is kept in a comment.
	guess [3]bool
	// unseen is the side of a conflict that has not seen the source.
	unseen Side
	// header is the text of a header.
	header string
}

// Clashes reports whether a conflict is to be written, as no option decides it.
func (t *Table) Clashes(r *Row) bool { return r.Outcome == Conflict && t.Favor == FavorNone }

// changed returns the fields in which an entry differs from the base's.
func changed(base, e *poparse.Entry) (f Fields) {
	if base == e {
		return 0
	}
	if base == nil || e == nil {
		return allFields
	}
	add := func(field Fields, differs bool) {
		if differs {
			f |= field
		}
	}
	add(FieldPresence, base.Obsolete != e.Obsolete)
	add(FieldSource, base.ID != e.ID || base.HasContext != e.HasContext || base.Context != e.Context ||
		base.HasPlural != e.HasPlural || base.IDPlural != e.IDPlural)
	was, is := TextOf(base), TextOf(e)
	add(FieldForms, !was.same(is))
	add(FieldState, was.same(is) && !was.Equal(is) || !was.same(is) && was.Fuzzy != is.Fuzzy)
	add(FieldPrevious, !base.Previous.Equal(e.Previous))
	add(FieldComments, !slices.Equal(lines(base.Comments), lines(e.Comments)))
	add(FieldExtracted, !slices.Equal(lines(base.Extracted), lines(e.Extracted)))
	add(FieldReferences, !slices.Equal(base.References, e.References))
	add(FieldFlags, !slices.Equal(base.Flags, e.Flags))
	return f
}

// decide fills the verdict and the outcome of a row.
func (t *Table) decide(r *Row) {
	b, o, h := r.Entry[Base], r.Entry[Ours], r.Entry[Theirs]
	r.Changed[Ours], r.Changed[Theirs] = changed(b, o), changed(b, h)
	in := [3]status{Ours: statusOf(o), Theirs: statusOf(h)}
	in[Base] = max(in[Ours], in[Theirs]) // of two changes the one that keeps more
	r.status = in[threeWay(statusOf(b), in[Ours], in[Theirs], Base)]
	switch {
	case o == nil && h == nil:
		r.Outcome = Same
	case r.Changed[Ours]|r.Changed[Theirs] == 0:
		r.fuzzy, r.previous = o.Fuzzy, o.Previous
		r.header = header(o)
	case o == nil || h == nil:
		t.oneSide(r)
	default:
		t.bothSides(r)
	}
}

// oneSide decides about a string that only one side has.
func (t *Table) oneSide(r *Row) {
	v := Ours
	if r.Entry[Ours] == nil {
		v = Theirs
	}
	b, e := r.Entry[Base], r.Entry[v]
	r.Outcome = FromOurs
	if (v == Ours) == (r.status == absent) {
		r.Outcome = FromTheirs
	}
	r.source, r.text, r.extracted, r.references, r.flagsFrom, r.commentsFrom = v, v, v, v, v, v
	r.fuzzy, r.previous, r.header = e.Fuzzy, e.Previous, header(e)
	switch {
	case b == nil || r.status != absent || r.Changed[v] == 0:
	case r.Header:
		r.status = there // the other side's text would lose its charset
	case r.Changed[v]&FieldText != 0 && !TextOf(e).Empty() || len(unite(lines(b.Comments), nil, lines(e.Comments))) > 0:
		r.status, r.Outcome = obsolete, Kept
	}
}

// bothSides decides field by field.
func (t *Table) bothSides(r *Row) {
	if r.source = r.Reworded; r.source == Base {
		r.source = t.pick(r, FieldSource)
	}
	r.extracted, r.references, r.flagsFrom = t.pick(r, FieldExtracted), t.pick(r, FieldReferences), t.pick(r, FieldFlags)
	for v := Ours; v <= Theirs; v++ {
		// What the template says is of the side that has the string, or its new source.
		if r.Reworded == v || statusOf(r.Entry[v]) == r.status && statusOf(r.Entry[v.other()]) != r.status {
			r.extracted, r.references, r.flagsFrom = v, v, v
		}
	}
	r.commentsFrom = t.pick(r, FieldComments)
	o, h := r.Entry[Ours], r.Entry[Theirs]
	if all := r.Changed[Ours] & r.Changed[Theirs]; all&FieldComments != 0 && !slices.Equal(lines(o.Comments), lines(h.Comments)) {
		var was []string
		if r.Entry[Base] != nil {
			was = lines(r.Entry[Base].Comments)
		}
		r.comments, r.united = unite(was, lines(o.Comments), lines(h.Comments)), true
	}
	clash := false
	switch {
	case r.Header:
		clash = t.mergeHeader(r)
	case r.source != Base && changed(o, h)&FieldSource != 0:
		clash = t.textOfSource(r)
	default:
		clash = t.textOf(r)
	}
	r.Outcome = t.outcome(r)
	if clash {
		r.Outcome = Conflict
		if r.text = Ours; t.Favor == FavorTheirs {
			r.text = Theirs
		}
		if !r.Header {
			r.fuzzy = t.Favor == FavorFuzzy || r.Entry[r.text].Fuzzy || r.unseen == r.text || t.Favor == FavorNone && (h.Fuzzy || r.unseen != Base)
			r.previous = r.Entry[r.text].Previous
		}
		if t.Favor == FavorFuzzy {
			r.guess[Theirs] = true
		}
	}
}

// outcome names what became of a string without a conflict.
func (t *Table) outcome(r *Row) Outcome {
	o, h := r.Changed[Ours], r.Changed[Theirs]
	switch {
	case r.extra != Base:
		return Kept
	case r.Reworded != Base && r.text == r.Reworded.other():
		return Moved
	case h == 0:
		return FromOurs
	case o == 0:
		return FromTheirs
	case changed(r.Entry[Ours], r.Entry[Theirs]) == 0:
		return Same
	}
	return Combined
}

// pick says whose a field is: of the side that changed it; of the newer template if both did.
func (t *Table) pick(r *Row, f Fields) Side {
	o, h := r.Changed[Ours]&f != 0, r.Changed[Theirs]&f != 0
	switch {
	case o && !h:
		return Ours
	case h && !o:
		return Theirs
	case o && changed(r.Entry[Ours], r.Entry[Theirs])&f != 0:
		return t.template
	}
	return Base
}

// textOf decides about the text of a string with one source, and reports a clash.
func (t *Table) textOf(r *Row) bool {
	o, h := r.Entry[Ours], r.Entry[Theirs]
	ours, theirs := TextOf(o), TextOf(h)
	if r.Entry[Base] == nil && !ours.same(theirs) {
		// msgmerge offers texts of the base: they are nobody's work.
		og, hg := ours.Fuzzy && t.known(ours), theirs.Fuzzy && t.known(theirs)
		switch {
		case og && hg:
			r.text = t.template
			r.fuzzy, r.previous = true, r.Entry[r.text].Previous
			return false
		case og && !theirs.Empty():
			ours = Text{}
		case hg && !ours.Empty():
			theirs = Text{}
		}
	}
	switch Choose(TextOf(r.Entry[Base]), ours, theirs) {
	case Clash:
		return true
	case Either:
		r.text = Base
		r.fuzzy, r.previous = o.Fuzzy, o.Previous
		if v := t.pick(r, FieldState); v != Base { // of a string without a text
			r.fuzzy = r.Entry[v].Fuzzy
		}
		if v := t.pick(r, FieldPrevious); v != Base {
			r.previous = r.Entry[v].Previous
		}
		return false
	case TakeOurs:
		r.text = Ours
	case TakeTheirs:
		r.text = Theirs
	}
	r.fuzzy, r.previous = r.Entry[r.text].Fuzzy, r.Entry[r.text].Previous
	if other := r.text.other(); r.Entry[Base] == nil && r.Entry[other].Fuzzy && !t.known(TextOf(r.Entry[other])) && !TextOf(r.Entry[other]).Empty() {
		r.guess[other] = true
	}
	return false
}

// textOfSource decides about the text of a string whose source one side changed: a text that
// was made for the other source becomes fuzzy.
func (t *Table) textOfSource(r *Row) bool {
	y, x := r.source, r.source.other() // x has not seen the source
	b, sees, other := TextOf(r.Entry[Base]), TextOf(r.Entry[y]), TextOf(r.Entry[x])
	mine := r.Entry[x]
	r.text, r.fuzzy, r.previous = y, r.Entry[y].Fuzzy, r.Entry[y].Previous
	lossy := mine.HasPlural && !r.Entry[y].HasPlural && slices.ContainsFunc(mine.Str, func(form string) bool { return form != "" && form != mine.Str[0] })
	derived := sees.Empty() || sees.same(b) || !slices.ContainsFunc(trim(sees.Forms), func(form string) bool { return !slices.Contains(b.Forms, form) })
	switch {
	case other.same(b) || other.Empty() || other.same(sees):
		if other.Equal(b) || !sees.Equal(b) || other.Translated() {
			return false
		}
		if r.fuzzy = other.Fuzzy; other.Empty() { // emptied, and nobody else changed it
			r.text, r.fuzzy, r.previous = x, false, nil
		}
		return false
	case derived && !sees.Translated() && !(lossy && r.Reworded != Base):
		r.text, r.fuzzy = x, true
		if !mine.Fuzzy || mine.Previous == nil {
			r.previous = &poparse.Previous{Context: mine.Context, ID: mine.ID, IDPlural: mine.IDPlural}
		} else {
			r.previous = mine.Previous
		}
		if lossy {
			r.guess[x] = true
		}
		return false
	case r.Reworded != Base:
		r.extra = x
		return false
	}
	if r.unseen = x; lossy {
		r.guess[x] = true
	}
	return true
}

// known reports whether the base has a text, for whatever string.
func (t *Table) known(text Text) bool {
	if t.texts == nil {
		t.texts = make(map[string]bool, len(t.entries[Base]))
		for _, e := range t.entries[Base] {
			for _, form := range e.Str {
				t.texts[form] = true
			}
		}
	}
	return !slices.ContainsFunc(text.Forms, func(form string) bool { return form != "" && !t.texts[form] })
}

// newer says which of two times of a header is later: Ours if it is none.
func newer(ours, theirs string) Side {
	if o, h := timeOf(ours), timeOf(theirs); h.After(o) {
		return Theirs
	}
	return Ours
}

// timeOf reads a time as headers have it, with or without a zone; the zero time if it is none.
func timeOf(s string) time.Time {
	for _, layout := range []string{"2006-01-02 15:04-0700", "2006-01-02 15:04:05-0700", "2006-01-02 15:04", "2006-01-02"} {
		if at, err := time.Parse(layout, strings.Join(strings.Fields(s), " ")); err == nil {
			return at
		}
	}
	return time.Time{}
}
