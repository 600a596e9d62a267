package poparse

import (
	"hash/maphash"
	"math"
	"slices"

	"golang.org/x/text/encoding"
)

// A Version is what a Reader keeps of a file, to compare the next version of it with.
// It keeps the text of the file in memory. Any number of goroutines may use it.
type Version struct {
	text     string
	declared string // charset in the header, as it is found before decoding
	header   string // its translation
	enc      encoding.Encoding
	seed     maphash.Seed
	forms    PluralForms // Number is 0 without
	pieces   []piece     // tile the text, except its ends
	items    int         // at least the elements of lists that the file has
	headerAt int         // index in pieces
}

// piece is the text of an entry, from the line of its first comment or keyword to the
// line where the next one begins. Offsets are in the text.
type piece struct {
	start, body   int32 // the line of the first comment, and that of the first keyword
	ids, str, end int32 // the first msgctxt or msgid, and the first msgstr
	line          int32 // of start
	keywordLine   int32
	head, lines   int32  // line feeds before body, and in all
	hash          uint32 // half of that of parser.remember, 0 for an obsolete entry
	obsolete      bool
	header        bool
}

// shift moves a piece by some bytes and lines.
func (c *piece) shift(bytes, lines int32) {
	c.start, c.body, c.ids, c.str, c.end = c.start+bytes, c.body+bytes, c.ids+bytes, c.str+bytes, c.end+bytes
	c.line, c.keywordLine = c.line+lines, c.keywordLine+lines
}

// tracker collects the pieces of a file while it is read.
type tracker struct {
	pieces []piece
	now    piece
	lost   bool // entries of this file are no pieces of lines

	// Of the parser, at the end.
	text  string
	seed  maphash.Seed
	items int
}

// take takes what the parser knows at the end of a file.
func (t *tracker) take(p *parser) {
	if t != nil {
		t.text, t.seed, t.items = p.text, p.seed, p.items
	}
}

// halfHash shortens a hash of an entry that is not 0.
func halfHash(h uint64) uint32 {
	if h == 0 {
		return 0
	}
	return max(uint32(h>>32), 1)
}

// begin begins a piece at the line of the present token, unless there is one.
func (t *tracker) begin(p *parser) {
	if p.pending.line != 0 {
		return
	}
	if p.tokenEnd > p.lineStart {
		t.lost = true
	}
	t.now = piece{start: int32(p.lineStart), line: int32(p.line)}
}

// body says that the keywords of the piece begin on the present line.
func (t *tracker) body(p *parser) {
	t.now.body, t.now.head = int32(p.lineStart), int32(p.line)-t.now.line
}

// end ends the piece of an entry. The position is at the next token.
func (t *tracker) end(p *parser, e *Entry) {
	t.now.keywordLine, t.now.obsolete, t.now.header = int32(e.KeywordLine), e.Obsolete, isHeader(e)
	t.now.end, t.now.lines = int32(p.lineStart), int32(p.line)-t.now.line
	if p.pos == len(p.text) {
		t.now.end = int32(len(p.text))
	}
	if p.tokenEnd > int(t.now.end) {
		t.lost = true // the next entry is on the same line
	}
	t.pieces = append(t.pieces, t.now)
}

// ParseVersion is Parse, and returns what NextVersion needs to read the next version
// of the file; nil for a file with warnings, or whose entries are not on lines of
// their own.
func (r *Reader) ParseVersion(name string, data []byte) (*File, *Version, error) {
	if len(data) > math.MaxInt32/4 { // the text may be longer
		f, err := r.Parse(name, data)
		return f, nil, err
	}
	t := &tracker{pieces: make([]piece, 0, len(data)/128+4)}
	r.tracker = t
	f, err := r.Parse(name, data)
	r.tracker = nil
	if err != nil || t.lost || len(f.Warnings) > 0 || f.Header == nil || !usualBeginning(data) {
		return f, nil, err
	}
	declared, at := declaredCharset(data)
	if at < 0 {
		return f, nil, nil
	}
	v := &Version{text: t.text, declared: declared, header: f.Header.Str[0], seed: t.seed, items: t.items}
	_, v.enc = lookupCharset(declared)
	v.forms, _ = f.PluralForms()
	v.setPieces(t.pieces)
	return f, v, nil
}

func (v *Version) setPieces(pieces []piece) {
	v.pieces = pieces
	v.headerAt = slices.IndexFunc(pieces, func(c piece) bool { return c.header })
}

// usualBeginning reports whether a file begins as text in a charset that contains
// ASCII, with a comment or a keyword.
func usualBeginning(data []byte) bool {
	return len(data) > 0 && (data[0] == '#' || data[0] == 'm') && !hasControls(data[:min(len(data), 1024)])
}

// An Update is a version of a file, as it differs from the version before.
type Update struct {
	// File is the new version. Its Entries are only those that had to be read.
	File *File
	// Version is for NextVersion, after this one.
	Version *Version
	// Entries are all entries of the new version, in file order.
	Entries []UpdatedEntry
	// Items is the number of comments, references and flags that the file has, or a
	// larger number.
	Items int
}

// UpdatedEntry is an entry of a new version.
type UpdatedEntry struct {
	// Before is the index in the Entries of the version before of the entry with the
	// same context, msgid and msgid_plural, as far as one was found; else -1. No two
	// entries have the same. An obsolete entry has the index of an obsolete one.
	Before int
	// Entry is an entry that had to be read. If it is nil, the entry is that of the
	// version before, except for its lines and perhaps its References.
	Entry *Entry
	// Moved says that References differ, and what they are now.
	Moved      bool
	References []string
	// Line and KeywordLine are those of the entry.
	Line, KeywordLine int
}

// NextVersion reads a file by comparing its text with that of the version before:
// entries whose lines did not change are not read, and of entries of which only "#:"
// lines changed, only these are. It returns nil if the file has an error or a
// warning, if its charset or the number of plural forms changed, or if it cannot tell
// entries apart by their lines alone; then ParseVersion reads it.
//
// The Entries that were read are overwritten by the next call, like those of
// [Reader.Parse], and their strings stay valid in the same way.
func (r *Reader) NextVersion(name string, data []byte, before *Version) *Update {
	if before == nil || len(data) > math.MaxInt32/4 || !usualBeginning(data) {
		return nil
	}
	declared, at := declaredCharset(data)
	if at < 0 || declared != before.declared {
		return nil
	}
	d := decoded{enc: before.enc, charset: declared}
	class, _ := lookupCharset(declared)
	switch class {
	case charsetUTF8:
		d.text = shares.text(data) // what is read of it is checked
	case charsetNone:
		if firstHigh(data) >= 0 {
			return nil
		}
		d.text, d.charset = shares.text(data), charsetASCII
	default:
		var err *SyntaxError
		if d.text, err = decodeTable(data, before.enc, declared); err != nil {
			return nil
		}
	}
	return r.update(name, d, before)
}

func (r *Reader) update(name string, d decoded, before *Version) *Update {
	p := &parser{
		position: position{line: 1}, file: &File{Name: name}, text: d.text, enc: d, seed: before.seed,
		tracker: &tracker{pieces: make([]piece, 0, len(before.pieces)+len(before.pieces)/16+4)},
	}
	p.pending, p.strs = p.buffers.pending(), p.buffers.strs[:0]
	r.lend(p)
	c := comparison{parser: p, before: before, used: make([]bool, len(before.pieces))}
	clear(r.updated)
	c.list = slices.Grow(r.updated[:0], cap(p.tracker.pieces))
	ok := c.run()
	if cap(c.list) <= 2*maxReused {
		r.updated = c.list
	}
	f := p.file
	f.Entries = p.entries
	r.takeBack(p)
	if !ok || p.tracker.lost || f.Header == nil || len(f.Warnings) > 0 {
		return nil
	}
	v := &Version{
		text: d.text, declared: before.declared, header: f.Header.Str[0], enc: before.enc, seed: before.seed,
		forms: before.forms, items: before.items + p.items,
	}
	v.setPieces(p.tracker.pieces)
	if f.Charset = charsetOf(v.header); f.Charset != charsetOf(before.header) || v.items > maxItems(len(d.text)) {
		return nil
	}
	return &Update{File: f, Version: v, Entries: c.list, Items: v.items}
}

// number is the index in the Entries of a version of a piece.
func (v *Version) number(i int) int {
	if v.headerAt < i {
		return i - 1
	}
	return i
}
