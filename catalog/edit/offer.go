package edit

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// Offer is a text that was made for a string which is similar to another one.
type Offer struct {
	// Context and Source are the string that it was made for, forms joined.
	Context, Source string
	// Target is the text, forms joined.
	Target string
}

// Offers returns texts for a string that a file lacks: that of its own obsolete entry, "" if
// the file has none; and up to most of those of other strings that the template has no more
// and whose msgid is similar, as msgmerge measures it: of gone, units of the file, and of its
// obsolete entries. The most similar are first. A file that cannot be read has none.
func Offers(data []byte, of *catalog.Unit, gone []catalog.Unit, most int) (own string, similar []Offer) {
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
		if o := (Offer{e.Context, sourceOf(e), TextOf(e).Target}); o.Source == of.Source && o.Context == of.Context {
			own = o.Target
		} else {
			add(o)
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(b.by, a.by) })
	for _, c := range list[:min(most, len(list))] {
		similar = append(similar, c.Offer)
	}
	return own, similar
}

// obsolete returns the obsolete entries of a file.
func obsolete(data []byte) (list []*poparse.Entry) {
	if !bytes.Contains(data, []byte("#~")) {
		return nil
	}
	f, err := poparse.Parse("file", data)
	if err != nil {
		return nil
	}
	for _, e := range f.Entries {
		if e.Obsolete {
			list = append(list, e)
		}
	}
	return list
}
