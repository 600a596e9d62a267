package merge

import (
	"cmp"
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

// verdict is what becomes of a string.
type verdict struct {
	// merged is the string, nil if it is absent; of a conflict with the text of ours, or of
	// theirs if Options.Favor says so.
	merged *poparse.Entry
	// text is the side whose text it has, Base: both have the same.
	text Side
	// extra is kept as obsolete beside the string.
	extra *poparse.Entry
	// guess are the sides whose text is kept in a comment.
	guess [3]bool
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
	alike := poparse.Alike(base, e)
	if alike == poparse.AllKinds && base.Obsolete == e.Obsolete {
		return 0
	}
	add := func(field Fields, differs bool) {
		if differs {
			f |= field
		}
	}
	add(FieldPresence, base.Obsolete != e.Obsolete)
	add(FieldSource, !alike.Has(poparse.KindIDs))
	was, is := TextOf(base), TextOf(e)
	add(FieldForms, !was.same(is))
	add(FieldState, was.same(is) && !was.Equal(is) || !was.same(is) && was.Fuzzy != is.Fuzzy)
	add(FieldPrevious, !alike.Has(poparse.KindPrevious))
	add(FieldComments, !alike.Has(poparse.KindComments))
	add(FieldExtracted, !alike.Has(poparse.KindExtracted))
	add(FieldReferences, !alike.Has(poparse.KindReferences))
	add(FieldFlags, !slices.Equal(base.Flags, e.Flags))
	return f
}

// decide fills the verdict and the outcome of a row.
func (t *Table) decide(r *Row) {
	b, o, h := r.Entry[Base], r.Entry[Ours], r.Entry[Theirs]
	r.Changed[Ours], r.Changed[Theirs] = changed(b, o), changed(b, h)
	in := [3]status{Ours: statusOf(o), Theirs: statusOf(h)}
	in[Base] = max(in[Ours], in[Theirs]) // of two changes the one that keeps more
	is := in[threeWay(statusOf(b), in[Ours], in[Theirs], Base)]
	switch {
	case o == nil && h == nil:
		r.Outcome = Same
	case r.Changed[Ours]|r.Changed[Theirs] == 0:
		if r.merged = o; poparse.Alike(b, o) == poparse.AllKinds {
			r.merged = h // perhaps with other lines of the same meaning, such as another number of empty forms
		}
	case o == nil || h == nil:
		t.oneSide(r, is)
	case r.Changed[Ours] == 0:
		r.from(Theirs)
	case r.Changed[Theirs] == 0:
		r.from(Ours)
	default:
		t.bothSides(r, is)
	}
}

// from makes the string that of the side that alone changed it.
func (r *Row) from(v Side) {
	if r.merged, r.Outcome = r.Entry[v], Outcome(v); r.Changed[v]&(FieldText|FieldSource) != 0 {
		r.text = v
	}
}

// oneSide decides about a string that only one side has.
func (t *Table) oneSide(r *Row, is status) {
	v := Ours
	if r.Entry[Ours] == nil {
		v = Theirs
	}
	b, e := r.Entry[Base], r.Entry[v]
	if r.text, r.Outcome = v, Outcome(v); is == absent {
		r.Outcome = Outcome(v.other())
	}
	switch {
	case is != absent, r.Header && b != nil && r.Changed[v] != 0: // the other side's text would lose its charset
		r.merged = e
	case b == nil || r.Changed[v] == 0:
	case r.Changed[v]&FieldText != 0 && !TextOf(e).Empty() || len(unite(lines(b.Comments), nil, lines(e.Comments))) > 0:
		r.merged, r.Outcome = kept(e), Kept
	}
}

// kept returns an entry as an obsolete one.
func kept(e *poparse.Entry) *poparse.Entry {
	k := *e
	if !k.Obsolete {
		k.Obsolete, k.Extracted, k.References = true, nil, nil
	}
	return &k
}

// bothSides decides field by field.
func (t *Table) bothSides(r *Row, is status) {
	o, h := r.Entry[Ours], r.Entry[Theirs]
	e := *o
	e.Obsolete = is == obsolete
	r.merged = &e
	source := r.Reworded
	if source == Base {
		source = t.pick(r, FieldSource)
	}
	if source == Theirs {
		e.Context, e.HasContext, e.ID, e.IDPlural, e.HasPlural = h.Context, h.HasContext, h.ID, h.IDPlural, h.HasPlural
	}
	told := Base // the side that has the string, or its new source, has what the template says
	for v := Ours; v <= Theirs; v++ {
		if r.Reworded == v || statusOf(r.Entry[v]) == is && statusOf(r.Entry[v.other()]) != is {
			told = v
		}
	}
	pick := func(f Fields) Side { return cmp.Or(told, t.pick(r, f)) }
	if pick(FieldExtracted) == Theirs {
		e.Extracted = h.Extracted
	}
	if pick(FieldReferences) == Theirs {
		e.References = h.References
	}
	if pick(FieldFlags) == Theirs {
		e.Flags = h.Flags
	}
	switch all := r.Changed[Ours] & r.Changed[Theirs]; {
	case all&FieldComments != 0:
		var was []string
		if r.Entry[Base] != nil {
			was = lines(r.Entry[Base].Comments)
		}
		e.Comments = unite(was, lines(o.Comments), lines(h.Comments))
	case t.pick(r, FieldComments) == Theirs:
		e.Comments = h.Comments
	}
	clash, unseen := false, Base // the side of a conflict that has not seen the source
	switch {
	case r.Header:
		clash = t.mergeHeader(r)
	case source != Base && changed(o, h)&FieldSource != 0:
		if clash = t.textOfSource(r, source); clash {
			unseen = source.other()
		}
	default:
		clash = t.textOf(r)
	}
	r.Outcome = t.outcome(r)
	if !clash {
		return
	}
	r.Outcome = Conflict
	r.guess[Theirs] = r.guess[Theirs] || t.Favor == FavorFuzzy
	if r.Header {
		return
	}
	if r.take(Ours); t.Favor == FavorTheirs {
		r.take(Theirs)
	}
	e.Fuzzy = e.Fuzzy || t.Favor == FavorFuzzy || unseen == r.text || t.Favor == FavorNone && (h.Fuzzy || unseen != Base)
}

// outcome names what became of a string that both sides changed, without a conflict.
func (t *Table) outcome(r *Row) Outcome {
	switch {
	case r.extra != nil:
		return Kept
	case r.Reworded != Base && r.text == r.Reworded.other():
		return Moved
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

// take gives the merged string the text of a side, with as many forms as its source wants.
func (r *Row) take(v Side) {
	e, from := r.merged, r.Entry[v]
	r.text, e.Str, e.Fuzzy, e.Previous = v, from.Str, from.Fuzzy, from.Previous
	if from.HasPlural == e.HasPlural {
		return
	}
	if e.Str = []string{""}; len(from.Str) > 0 {
		e.Str = from.Str[:1]
	}
	if e.HasPlural {
		e.Str = slices.Repeat(e.Str, max(1, len(r.Entry[v.other()].Str)))
	}
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
			r.take(t.template)
			return false
		case og && !theirs.Empty():
			ours = Text{}
		case hg && !ours.Empty():
			theirs = Text{}
		}
	}
	switch of, clash := Choose(TextOf(r.Entry[Base]), ours, theirs); {
	case clash:
		return true
	case of != Base:
		r.take(of)
	default:
		if t.pick(r, FieldState) == Theirs { // of a string without a text
			r.merged.Fuzzy = h.Fuzzy
		}
		if t.pick(r, FieldPrevious) == Theirs {
			r.merged.Previous = h.Previous
		}
		if b := r.Entry[Base]; b != nil && slices.Equal(b.Str, o.Str) {
			r.merged.Str = h.Str
		}
		return false
	}
	if other := r.text.other(); r.Entry[Base] == nil && r.Entry[other].Fuzzy && !t.known(TextOf(r.Entry[other])) && !TextOf(r.Entry[other]).Empty() {
		r.guess[other] = true
	}
	return false
}

// textOfSource decides about the text of a string whose source one side changed: a text that
// was made for the other source becomes fuzzy.
func (t *Table) textOfSource(r *Row, y Side) bool {
	x := y.other() // which has not seen the source
	b, sees, other := TextOf(r.Entry[Base]), TextOf(r.Entry[y]), TextOf(r.Entry[x])
	mine := r.Entry[x]
	r.take(y)
	lossy := mine.HasPlural && !r.Entry[y].HasPlural && slices.ContainsFunc(mine.Str, func(form string) bool { return form != "" && form != mine.Str[0] })
	derived := sees.Empty() || sees.same(b) || !slices.ContainsFunc(trim(sees.Forms), func(form string) bool { return !slices.Contains(b.Forms, form) })
	switch {
	case other.same(b) || other.Empty() || other.same(sees):
		switch {
		case other.Equal(b) || !sees.Equal(b) || other.Translated():
		case other.Empty(): // emptied, and nobody else changed it
			r.take(x)
			r.merged.Fuzzy, r.merged.Previous = false, nil
		default:
			r.merged.Fuzzy = other.Fuzzy
		}
		return false
	case derived && !sees.Translated() && !(lossy && r.Reworded != Base):
		r.take(x)
		if !mine.Fuzzy || mine.Previous == nil {
			r.merged.Previous = &poparse.Previous{Context: mine.Context, ID: mine.ID, IDPlural: mine.IDPlural}
		}
		r.merged.Fuzzy, r.guess[x] = true, lossy
		return false
	case r.Reworded != Base:
		r.extra = kept(mine)
		return false
	}
	r.guess[x] = lossy
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
