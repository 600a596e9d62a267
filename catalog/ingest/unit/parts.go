package unit

import (
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/repoglot/repoglot/catalog"
)

// PartSize is about the length of a part of a large file: some 10,000 units of 100
// bytes each.
const PartSize = 1 << 20

// manyParts is the number of parts from which on a file is read in parts.
const manyParts = 8

// parts are the bounds of the parts of a Plain file. Their units are made when they are
// asked for: of a file with a million entries they take three times its length, as
// entries and as units twice as much again.
type parts struct {
	name   string
	rules  Rules
	header int // the length of the paragraph of the header
	list   []part
	units  int // of all parts
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
//
// A part begins where a paragraph does, and is read behind the header (see Edited).
func ReadParts(name string, data []byte, rules Rules, size int) *File {
	if !HasParts(data, size) {
		return nil
	}
	header := cutAfter(data, 1)
	if header < 0 {
		return nil
	}
	file := &File{Data: data, parts: &parts{name: name, rules: rules, header: header}, Plain: true}
	r := new(Reader)
	var keys []int64
	var hasher catalog.Hasher
	items := 0
	for from, start := 0, (partStart{}); from < len(data); {
		to := len(data)
		if at := max(from+size, header); at < len(data) {
			if at = cutAfter(data, at); at > 0 {
				to = at
			}
		}
		p := part{from, to, start}
		f := file.readPart(r, p)
		if f == nil || !f.Plain {
			return nil
		}
		file.parts.list = append(file.parts.list, p)
		file.Plural, file.HasPlural = f.Plural, f.HasPlural
		for i := range f.Units {
			keys = append(keys, msgidKey(&f.Units[i], &hasher))
		}
		if n := len(f.Units); n > 0 {
			start = partStart{f.Units[n-1].Position, f.Outline}
		}
		file.Outline = f.Outline
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

// readPart makes the units of a part; nil if it cannot be read.
func (f *File) readPart(r *Reader, p part) *File {
	text := f.Data[p.from:p.to]
	if p.from > 0 {
		text = slices.Concat(f.Data[:f.parts.header], text)
	}
	entries, err := r.parser.Parse(f.parts.name, text)
	if err != nil {
		return nil
	}
	r.start = p.partStart
	out, ok := r.tryConvert(entries, text, f.parts.rules, false)
	if !ok {
		return nil
	}
	return out
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
				case blocks <- f.readPart(r, p).Units:
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
