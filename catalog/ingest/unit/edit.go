package unit

import (
	"bytes"
	"slices"
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// Region is a part of a file that differs from the version before.
type Region struct {
	// From and To are where it is in the file.
	From, To int
	// Old is what the version before had in its place.
	Old []byte
}

// Edit is what changed from one version of a file to the next, if only translations
// did.
type Edit struct {
	// Before and After are the units of the paragraphs that differ, in the order of the
	// file: parallel, each pair with one identity and equal in all that File.Outline
	// covers. Position counts from the first of them.
	Before, After []Unit
}

// Edited reads the paragraphs that differ between two versions of a file. data is the
// newer one; regions are where they differ, in order. The older one must have been
// Plain. It returns false unless the units of all other paragraphs, their number and
// order, and the header are the same in both: then the whole file must be read.
//
// A paragraph begins after a blank line that ends a complete entry, before a line that
// begins one. What a parser makes of the text up to there does not depend on what
// follows, and the text from there on is read as if it followed the header. So the
// differing paragraphs of both versions are read behind the header, and everything
// else is what it was.
func Edited(name string, data []byte, regions []Region, rules Rules) (Edit, bool) {
	header := cutAfter(data, 1)
	if header < 0 || len(regions) == 0 {
		return Edit{}, false
	}
	before, after := slices.Clone(data[:header]), slices.Clone(data[:header])
	least := header
	for _, r := range narrowed(data, regions) {
		old, from, to, ok := r.paragraphs(data, least)
		if !ok {
			return Edit{}, false
		}
		before, after = append(before, old...), append(after, data[from:to]...)
		least = to
	}
	return compareVersions(name, before, after, len(data), rules)
}

// narrowed cuts off what the beginnings and the ends of regions have in common, and
// what is equal between them.
func narrowed(data []byte, regions []Region) []Region {
	var list []Region
	for _, r := range regions {
		text := data[r.From:r.To]
		begin := commonPrefix(text, r.Old)
		end := commonSuffix(text[begin:], r.Old[begin:])
		r = Region{From: r.From + begin, To: r.To - end, Old: r.Old[begin : len(r.Old)-end]}
		if r.From < r.To || len(r.Old) > 0 {
			list = r.split(list, data)
		}
	}
	return list
}

// split appends the rows of differing blocks between blank lines, if both versions of a
// region have as many, else the region.
func (r Region) split(list []Region, data []byte) []Region {
	blank := []byte("\n\n")
	text := data[r.From:r.To]
	if bytes.Count(text, blank) != bytes.Count(r.Old, blank) {
		return append(list, r)
	}
	at, old, open := r.From, r.Old, false
	for len(text)+len(old) > 0 {
		a, b := firstBlock(text, blank), firstBlock(old, blank)
		text, old = text[len(a):], old[len(b):]
		same := bytes.Equal(a, b)
		switch {
		case same:
		case open:
			last := &list[len(list)-1]
			last.To, last.Old = at+len(a), last.Old[:len(last.Old)+len(b)]
		default:
			list = append(list, Region{From: at, To: at + len(a), Old: b})
		}
		at, open = at+len(a), !same
	}
	return list
}

// firstBlock returns a text up to its first blank line, which it includes.
func firstBlock(text, blank []byte) []byte {
	if n := bytes.Index(text, blank); n >= 0 {
		return text[:n+len(blank)]
	}
	return text
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4096
	i := 0
	for i+step <= n && bytes.Equal(a[i:i+step], b[i:i+step]) {
		i += step
	}
	for i < n && a[i] == b[i] {
		i++
	}
	return i
}

func commonSuffix(a, b []byte) int {
	n := min(len(a), len(b))
	const step = 4096
	i := 0
	for i+step <= n && bytes.Equal(a[len(a)-i-step:len(a)-i], b[len(b)-i-step:len(b)-i]) {
		i += step
	}
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	return i
}

// paragraphs returns the whole paragraphs of a region in both versions, and where they
// are in the newer one. They begin at least at an offset.
func (r *Region) paragraphs(data []byte, least int) (old []byte, from, to int, ok bool) {
	from, to = cutBefore(data, r.From, least), cutAfter(data, r.To)
	if from < 0 || to < 0 {
		return nil, 0, 0, false
	}
	old = slices.Concat(data[from:r.From], r.Old, data[r.To:to])
	return old, from, to, beginsEntry(old) && endsEntry(old)
}

// cutReach bounds how far a paragraph may be from a difference in it.
const cutReach = 64 << 10

// cutBefore returns the last beginning of a paragraph at or before an offset, but not
// before least; -1 if there is none near.
func cutBefore(data []byte, at, least int) int {
	for begin := at; begin >= max(least, at-cutReach); begin-- {
		begin = 1 + bytes.LastIndexByte(data[:begin], '\n')
		if begin >= least && isCut(data, begin) {
			return begin
		}
	}
	return -1
}

// cutAfter returns the first beginning of a paragraph at or after an offset, or the end
// of the file; -1 if there is none near.
func cutAfter(data []byte, at int) int {
	for begin := at; begin < at+cutReach; begin++ {
		n := bytes.IndexByte(data[max(begin-1, 0):], '\n')
		if n < 0 {
			if endsEntry(data) {
				return len(data)
			}
			return -1
		}
		if begin = max(begin-1, 0) + n + 1; isCut(data, begin) {
			return begin
		}
	}
	return -1
}

// isCut reports whether a paragraph begins at the beginning of a line, or the file ends
// there with a complete entry.
func isCut(data []byte, at int) bool {
	if at == len(data) {
		return endsEntry(data)
	}
	return beginsEntry(data[at:]) && afterBlank(data[:at]) && endsEntry(data[:at])
}

func beginsEntry(text []byte) bool {
	return len(text) > 0 && text[0] == '#' || bytes.HasPrefix(text, []byte("msgid")) || bytes.HasPrefix(text, []byte("msgctxt"))
}

// afterBlank reports whether the last line of a text is blank.
func afterBlank(text []byte) bool {
	line, _ := lastLine(text)
	return len(line) == 0 && len(text) > 1
}

// endsEntry reports whether the last line of a text that is not blank is part of a
// msgstr.
func endsEntry(text []byte) bool {
	for n := len(text); len(text) > 0 && len(text) > n-cutReach; {
		var line []byte
		line, text = lastLine(text)
		switch {
		case len(line) == 0 || line[0] == '"':
		default:
			return bytes.HasPrefix(line, []byte("msgstr"))
		}
	}
	return false
}

// lastLine returns the last line of a text, without what ends it, and what is before.
func lastLine(text []byte) (line, before []byte) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	begin := 1 + bytes.LastIndexByte(text, '\n')
	return bytes.TrimSuffix(text[begin:], []byte("\r")), text[:begin]
}

// compareVersions reads the paragraphs of both versions. size is that of the whole
// file.
func compareVersions(name string, before, after []byte, size int, rules Rules) (e Edit, ok bool) {
	old, err := readPlain(name, before, rules)
	if err != nil {
		return e, false
	}
	next, err := readPlain(name, after, rules)
	if err != nil || !old.Plain || !next.Plain || len(old.Units) != len(next.Units) || old.items != next.items ||
		len(after) > size/2 && size > cutReach {
		return e, false
	}
	for i := range old.Units {
		a, b := &old.Units[i], &next.Units[i]
		if a.Identity != b.Identity || a.Position != b.Position || a.Location != b.Location ||
			a.Note != b.Note || a.TranslatorBytes != b.TranslatorBytes || a.Flags != b.Flags {
			return e, false
		}
	}
	return Edit{Before: old.Units, After: next.Units}, old.Outline == next.Outline
}

func readPlain(name string, data []byte, rules Rules) (*File, error) {
	return (*Reader)(nil).Read(name, data, rules)
}

// plain reports whether what a parser makes of an entry depends only on the entry and
// the header (File.Plain): the text is UTF-8, has one domain, no comment behind a string
// (which is the next entry's), the header is the first entry, no entry repeats another, and it is far from the limits of a file.
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
