package unit

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/repoglot/repoglot/catalog"
	"github.com/repoglot/repoglot/poparse"
)

// A file is its header and its paragraphs (poparse.NextParagraph), and the units of a
// Plain file follow from the header and each paragraph. So a part of a file is read in
// one way, paragraphs.read: some paragraphs behind the header. A push into a large file
// reads those that differ, of both versions (ReadPartial); the import of a large file
// reads one part after the other, whenever somebody asks for the units (ReadParts). All
// others, the many small versions of a replay too, read a file as one part. Whatever is
// not Plain is read whole.

// paragraphs reads parts of a file.
type paragraphs struct {
	name   string
	rules  Rules
	header []byte
}

// cut finds the header of a file; nil if no paragraph is behind it.
func cut(name string, data []byte, rules Rules) *paragraphs {
	n := poparse.NextParagraph(data, 1)
	if n < 0 {
		return nil
	}
	return &paragraphs{name, rules, data[:n]}
}

// read makes the units of a text of whole paragraphs; nil unless it is Plain.
func (p *paragraphs) read(r *Reader, text []byte, start partStart) *File {
	text = slices.Concat(p.header, text)
	entries, err := r.parser.Parse(p.name, text)
	if err != nil {
		return nil
	}
	if f, ok := convert(entries, text, p.rules, start, false); ok && f.Plain {
		return f
	}
	return nil
}

// Region is a part of a file that differs from the version before. In both versions it
// begins with the file or with a paragraph, and ends with the file or before a paragraph.
type Region struct {
	// From and To are where it is in the file.
	From, To int
	// Old is what the version before had in its place.
	Old []byte
}

// Partial is what changed from one version of a file to the next, if only translations
// did.
type Partial struct {
	// Before and After are the units of the paragraphs that differ, in the order of the
	// file: parallel, each pair with one identity and equal in all that File.Outline
	// covers. Position counts from the first of them.
	Before, After []Unit
}

// ReadPartial reads the paragraphs that differ between two versions of a file. data is the
// newer one; regions are where they differ, in order. The older one must have been
// Plain. It returns false unless the units of all other paragraphs, their number and
// order, and the header are the same in both: then the whole file must be read.
func ReadPartial(name string, data []byte, regions []Region, rules Rules) (e Partial, ok bool) {
	p := cut(name, data, rules)
	if p == nil || len(regions) == 0 {
		return e, false
	}
	var before, after []byte
	for _, g := range regions {
		old, text := g.Old, data[g.From:g.To]
		if g.From == 0 && !bytes.Equal(old[:paragraphLen(old)], p.header) {
			return e, false
		}
		for len(old) > 0 && len(text) > 0 {
			a, b := old[:paragraphLen(old)], text[:paragraphLen(text)]
			if old, text = old[len(a):], text[len(b):]; !bytes.Equal(a, b) {
				before, after = append(before, a...), append(after, b...)
			}
		}
		if len(old)+len(text) > 0 {
			return e, false
		}
	}
	r := new(Reader)
	old, next := p.read(r, before, partStart{}), p.read(r, after, partStart{})
	if old == nil || next == nil || !sameButTexts(old, next) {
		return e, false
	}
	return Partial{Before: old.Units, After: next.Units}, true
}

// paragraphLen returns the length of the first paragraph of a text.
func paragraphLen(text []byte) int {
	if n := poparse.NextParagraph(text, 1); n > 0 {
		return n
	}
	return len(text)
}

// sameButTexts reports whether only translations differ between two versions of some
// paragraphs.
func sameButTexts(old, next *File) bool {
	return old.items == next.items && old.Outline == next.Outline && slices.EqualFunc(old.Units, next.Units, func(a, b Unit) bool {
		return a.Identity == b.Identity && a.Position == b.Position && a.Location == b.Location &&
			a.Note == b.Note && a.TranslatorBytes == b.TranslatorBytes && a.Flags == b.Flags
	})
}

// plain reports whether what a parser makes of an entry depends only on the entry and
// the header (File.Plain): the text is UTF-8, has one domain, no comment behind a string
// (which is the next entry's), the header is the first entry, no entry repeats another,
// and it is far from the limits of a file.
func plain(f *poparse.File, out *File) bool {
	switch {
	case f.CommentsBehind, f.Header == nil || !strings.EqualFold(f.Charset, "UTF-8"), len(f.OtherHeaders) > 0, out.Repeated > 0:
		return false
	case len(f.Entries) > 0 && f.Entries[0].Line < f.Header.Line:
		return false
	}
	return out.items < plainItems(len(out.Data))
}

// plainItems bounds the list elements of a plain file: poparse keeps twice as many.
func plainItems(size int) int { return size/64 + 32_768 }

// PartSize is about the length of a part of a large file: some 10,000 units of 100
// bytes each.
const PartSize = 1 << 20

// manyParts is the number of parts from which on a file is read in parts.
const manyParts = 8

// parts are the bounds of the parts of a Plain file. Their units are made when they are
// asked for: of a file with a million entries they take three times its length, as
// entries and as units twice as much again.
type parts struct {
	*paragraphs
	list  []part
	units int // of all parts
}

// part is where a part of a file is, and what the units before it came to.
type part struct {
	from, to int
	partStart
}

type partStart struct {
	position int   // of the last unit before
	outline  int64 // of the units before
}

// HasParts reports whether a file is so large that ReadParts reads it.
func HasParts(data []byte, size int) bool { return len(data) >= manyParts*size }

// ReadParts reads a file in parts of about a size, without keeping its units: Blocks
// makes them, each time it is called. It returns nil for files of few parts, and for
// those that are not Plain or cannot be read, which must be read as a whole. All else is
// as Read makes it.
func ReadParts(name string, data []byte, rules Rules, size int) *File {
	if !HasParts(data, size) {
		return nil
	}
	p := cut(name, data, rules)
	if p == nil {
		return nil
	}
	file := &File{Data: data, parts: &parts{paragraphs: p}, Plain: true}
	r := new(Reader)
	var keys []int64
	var hasher catalog.Hasher
	items := 0
	for from, start := len(p.header), (partStart{}); from < len(data); {
		to := -1
		if from+size < len(data) {
			to = poparse.NextParagraph(data, from+size)
		}
		if to < 0 {
			to = len(data)
		}
		f := p.read(r, data[from:to], start)
		if f == nil {
			return nil
		}
		file.parts.list = append(file.parts.list, part{from, to, start})
		file.Plural, file.HasPlural, file.Outline = f.Plural, f.HasPlural, f.Outline
		for i := range f.Units {
			keys = append(keys, msgidKey(&f.Units[i], &hasher))
		}
		if n := len(f.Units); n > 0 {
			start = partStart{f.Units[n-1].Position, f.Outline}
		}
		items += f.items
		from = to
	}
	slices.Sort(keys)
	for i := range keys {
		if i > 0 && keys[i] == keys[i-1] { // a string is repeated, or else two have one key
			return nil
		}
	}
	if items >= plainItems(len(data)) {
		return nil
	}
	file.parts.units = len(keys)
	return file
}

// msgidKey is the same for strings that repeat one another in a PO file: their msgctxt
// and msgid are equal, whatever their msgid_plural is.
func msgidKey(u *Unit, h *catalog.Hasher) int64 {
	if id, _, plural := strings.Cut(u.Source, catalog.FormSeparator); plural {
		return h.Identity(id, u.Context).Key
	}
	return u.Identity.Key
}

// InParts reports whether the file has no Units, but Blocks.
func (f *File) InParts() bool { return f.parts != nil }

// Len returns the number of units.
func (f *File) Len() int {
	if f.parts != nil {
		return f.parts.units
	}
	return len(f.Units)
}

// Blocks yields the units in the order of the file, many at a time. A block stays as it
// is when the next one is made, which happens while the caller works on the one before.
func (f *File) Blocks() iter.Seq[[]Unit] {
	return func(yield func([]Unit) bool) {
		if f.parts == nil {
			yield(f.Units)
			return
		}
		blocks, stop := make(chan []Unit), make(chan struct{})
		var made sync.WaitGroup
		defer made.Wait()
		defer close(stop)
		made.Go(func() {
			defer close(blocks)
			r := new(Reader)
			for _, p := range f.parts.list {
				select {
				case blocks <- f.parts.read(r, f.Data[p.from:p.to], p.partStart).Units:
				case <-stop:
					return
				}
			}
		})
		for units := range blocks {
			if !yield(units) {
				return
			}
		}
	}
}

// All returns the units of a file, also of one in parts.
func (f *File) All() []Unit {
	if f.parts == nil {
		return f.Units
	}
	all := make([]Unit, 0, f.parts.units)
	for units := range f.Blocks() {
		all = append(all, units...)
	}
	return all
}
