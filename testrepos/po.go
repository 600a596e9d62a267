package testrepos

import (
	"bytes"
	"slices"

	"github.com/repoglot/repoglot/poparse"
	"github.com/repoglot/repoglot/poparse/msgmerge"
)

// putEntries adds entries to a file: each replaces the one with the same msgctxt and
// msgid, or is added after the last live one.
func putEntries(text, given []byte) (*poparse.File, error) {
	file, err := poparse.Parse("PO", text)
	if err != nil {
		return nil, err
	}
	add, err := poparse.Parse("entries", given)
	if len(text) == 0 || err != nil {
		return add, err
	}
	if add.Header != nil {
		translate(file.Header, add.Header)
	}
	for _, e := range add.Entries {
		e.KeywordLine = 0 // a new one
		i := slices.IndexFunc(file.Entries, func(old *poparse.Entry) bool {
			return old.ID == e.ID && old.Context == e.Context && old.HasContext == e.HasContext
		})
		if i >= 0 && !file.Entries[i].Obsolete && !e.Obsolete {
			translate(file.Entries[i], e)
			continue
		}
		if i >= 0 {
			file.Entries = slices.Delete(file.Entries, i, i+1)
		}
		end := len(file.Entries)
		if gone := slices.IndexFunc(file.Entries, func(old *poparse.Entry) bool { return old.Obsolete }); gone >= 0 && !e.Obsolete {
			end = gone
		}
		file.Entries = slices.Insert(file.Entries, end, e)
	}
	return file, nil
}

// translate gives an entry the texts of another one, and the comments that it has.
func translate(e, given *poparse.Entry) {
	e.Str, e.HasPlural, e.IDPlural, e.Fuzzy, e.Previous = given.Str, given.HasPlural, given.IDPlural, given.Fuzzy, given.Previous
	if given.Comments != nil {
		e.Comments = given.Comments
	}
	if given.Extracted != nil {
		e.Extracted = given.Extracted
	}
	if given.References != nil {
		e.References = given.References
	}
	for _, flag := range given.Flags {
		if !slices.Contains(e.Flags, flag) {
			e.Flags = append(e.Flags, flag)
		}
	}
}

// mergePO works like `msgmerge --no-fuzzy-matching --previous`: the entries, order,
// references and flags of the POT, the translations of given or else of old, and as
// obsolete the entries that the POT lacks.
func mergePO(pot, old, given []byte) (*poparse.File, error) {
	template, err := poparse.Parse("POT", pot)
	if err != nil {
		return nil, err
	}
	file, err := putEntries(old, given)
	if err != nil {
		return nil, err
	}
	merged, err := msgmerge.Merge(file, template, msgmerge.Options{Previous: true, NoFuzzyMatching: true, NoWrap: true})
	if err != nil {
		return nil, err
	}
	flags := map[[2]string][]string{} // msgmerge drops those that gettext does not know
	for e := range template.Live() {
		flags[[2]string{e.Context, e.ID}] = e.Flags
	}
	for e := range merged.File.Live() {
		e.Flags = flags[[2]string{e.Context, e.ID}]
	}
	return merged.File, nil
}

// written is the text of a file.
func written(f *poparse.File, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = f.WriteTo(&b)
	return b.Bytes(), err
}
