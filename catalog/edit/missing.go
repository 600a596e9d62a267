package edit

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// stringKey is what tells the strings of a file apart for gettext.
type stringKey struct{ context, id string }

func keyOf(e *poparse.Entry) stringKey { return stringKey{e.Context, e.ID} }

// findMissing makes entries of those strings of edits that the file lacks and its template
// has, and finds their places: after the nearest string before them in the template that the
// file has, else before the nearest after them, else behind the last live one. So a file that
// is in the order of its template stays so, and msgmerge finds nothing to move.
func (a *applier) findMissing(edits []Edit, entries map[catalog.Identity]*poparse.Entry) {
	wanted := map[catalog.Identity]bool{}
	for _, e := range edits {
		if id := e.Identity(); e.Base.Absent() && entries[id] == nil {
			wanted[id] = true
		}
	}
	if len(wanted) == 0 || a.options.Template == nil {
		return
	}
	live, end, obsolete := make(map[stringKey]int, len(a.file.Entries)), 0, map[stringKey]*poparse.Entry{}
	for i, e := range a.file.Entries {
		if e.Domain != a.file.Domain {
			continue
		}
		if e.Obsolete {
			obsolete[keyOf(e)] = e
			continue
		}
		if end = i + 1; !e.Duplicate {
			live[keyOf(e)] = i
		}
	}
	a.missing, a.places = map[catalog.Identity]*poparse.Entry{}, map[int][]*poparse.Entry{}
	var h catalog.Hasher
	var first []*poparse.Entry // before any string that the file has
	place := -1
	for ref := range a.options.Template.Live() {
		if i, has := live[keyOf(ref)]; has {
			if place < 0 {
				a.places[i], first = first, nil
			}
			place = i + 1
			continue
		}
		id := h.Identity(SourceOf(ref), ref.Context)
		if !wanted[id] || a.missing[id] != nil {
			continue
		}
		e := msgmerge.New(ref, obsolete[keyOf(ref)])
		e.Domain, e.Str, e.Fuzzy, e.Previous = a.file.Domain, []string{""}, false, nil
		if a.options.NoLocation {
			e.References = nil
		}
		if a.missing[id] = e; place < 0 {
			first = append(first, e)
		} else {
			a.places[place] = append(a.places[place], e)
		}
	}
	a.places[end] = append(a.places[end], first...)
}

// add puts the new strings among changes into the file, in place of obsolete entries of them,
// which would be second definitions for msgfmt. It returns a function that takes them out.
func (a *applier) add(changes []change) func() {
	was := a.file.Entries
	added, keys := map[*poparse.Entry]bool{}, map[stringKey]bool{}
	for _, c := range changes {
		if a.missing[c.identity] == c.entry {
			added[c.entry], keys[keyOf(c.entry)] = true, true
		}
	}
	if len(added) == 0 {
		return func() {}
	}
	now := make([]*poparse.Entry, 0, len(was)+len(added))
	for i := range len(was) + 1 {
		for _, e := range a.places[i] {
			if added[e] {
				now = append(now, e)
			}
		}
		if i < len(was) && !(was[i].Obsolete && keys[keyOf(was[i])]) {
			now = append(now, was[i])
		}
	}
	a.file.Entries = now
	return func() { a.file.Entries = was }
}

// bare takes the comments of one kind from a new entry that cannot be written: the charset of
// the file may lack a character that only they have.
func bare(e *poparse.Entry) bool {
	for _, kind := range []*[]string{&e.Extracted, &e.References, &e.Comments} {
		if len(*kind) > 0 {
			*kind = nil
			return true
		}
	}
	return false
}

// Holds returns an [*InvalidError] if the charset of a file lacks a character of a text, which
// is a string of the template.
func Holds(data []byte, text string) error {
	_, at, _ := bytes.Cut(data, []byte("charset="))
	_, rest, _ := bytes.Cut(at, []byte("\n\n")) // the header is enough
	_, layout, err := poparse.ParseLayout("file", data[:len(data)-len(rest)])
	if err == nil { // else nothing is written into it now
		if _, err = layout.Encode(text); err != nil {
			return &InvalidError{Field: "target", Message: "The file cannot have this string, " + err.Error() + "."}
		}
	}
	return nil
}

// Offer is a text that was made for a string which is similar to another one.
type Offer struct {
	// Context and Source are the string that it was made for, forms joined.
	Context, Source string
	// Target is the text, forms joined.
	Target string
}

// Offers returns texts for a string that a file lacks: that of its own obsolete entry, empty if
// the file has none; and up to most of those of other strings that the template has no more
// and whose msgid is similar, as msgmerge measures it: of gone, units of the file, and of its
// obsolete entries. The most similar are first. A file that cannot be read has none.
func Offers(data []byte, of *catalog.Unit, gone []catalog.Unit, most int) (own Text, similar []Offer) {
	type candidate struct {
		Offer
		by float64
	}
	var list []candidate
	measure := msgmerge.Similarity(catalog.SplitForms(of.Source)[0])
	add := func(o Offer) {
		if by := measure(catalog.SplitForms(o.Source)[0]); by > 0 && catalog.SplitForms(o.Target)[0] != "" {
			list = append(list, candidate{o, by})
		}
	}
	for i := range gone {
		add(Offer{gone[i].Context, gone[i].Source, gone[i].Target})
	}
	for _, e := range obsolete(data) {
		if o := (Offer{e.Context, SourceOf(e), TextOf(e).Target}); o.Source == of.Source && o.Context == of.Context {
			own = TextOf(e)
		} else {
			add(o)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.by, a.by) })
	return own, catalog.Each(list[:min(most, len(list))], func(c *candidate) Offer { return c.Offer })
}

// obsolete returns the obsolete entries of a file.
func obsolete(data []byte) []*poparse.Entry {
	if !bytes.Contains(data, []byte("#~")) {
		return nil
	}
	f, err := poparse.Parse("file", data)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(f.Entries, func(e *poparse.Entry) bool { return !e.Obsolete })
}
