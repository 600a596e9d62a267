package poparse

import "unsafe"

// stringArena cuts small slices of strings from larger blocks: most entries need
// two or three slices of one element, and an allocation for each would cost more
// than the parsing.
type stringArena struct {
	block []string
	size  int
}

const (
	minBlock = 32
	maxBlock = 2048
)

// copy returns a slice with the elements of src and no spare capacity, nil for
// an empty src.
func (a *stringArena) copy(src []string) []string {
	n := len(src)
	if n == 0 {
		return nil
	}
	if n == 1 {
		return a.one(src[0])
	}
	if n > cap(a.block)-len(a.block) {
		if n > maxBlock/4 {
			return append(make([]string, 0, n), src...)
		}
		a.next(n)
	}
	at := len(a.block)
	a.block = a.block[:at+n]
	for i, s := range src { // cheaper than copy for a few elements
		a.block[at+i] = s
	}
	return a.block[at : at+n : at+n]
}

// one is copy for one element, the usual length of a list.
func (a *stringArena) one(s string) []string {
	if len(a.block) == cap(a.block) {
		a.next(1)
	}
	at := len(a.block)
	a.block = a.block[:at+1]
	a.block[at] = s
	return a.block[at : at+1 : at+1]
}

// next begins a block with room for n elements.
func (a *stringArena) next(n int) {
	a.size = min(max(2*a.size, minBlock, n), maxBlock)
	a.block = make([]string, 0, a.size)
}

// textArena keeps the strings that are built, many in one chunk.
type textArena struct {
	chunk []byte
	used  int // of chunk
}

const (
	minChunk = 512
	maxChunk = 64 << 10
)

// reserve returns an empty slice with room for at least n bytes. The caller appends
// to it and then passes it to keep, or drops it.
func (a *textArena) reserve(n int) []byte {
	if n > maxChunk/8 {
		return make([]byte, 0, n)
	}
	if n > len(a.chunk)-a.used {
		a.chunk = make([]byte, min(max(2*len(a.chunk), minChunk, n), maxChunk))
		a.used = 0
	}
	return a.chunk[a.used:a.used]
}

// keep returns the bytes that were appended to the last reserved slice as a
// string. If they outgrew it, they are copied into a chunk, unless they are large.
func (a *textArena) keep(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case a.used < len(a.chunk) && &b[0] == &a.chunk[a.used]:
		a.used += len(b)
	case len(b) <= maxChunk/8:
		return a.keep(append(a.reserve(len(b)), b...))
	}
	return unsafe.String(&b[0], len(b)) // nothing writes there any more
}

// entryArena cuts zeroed entries from blocks. A block is cleared just before it is
// filled, while it is in the processor's cache, and the number of entries need not
// be known beforehand.
type entryArena struct {
	block []slot // the last one
	used  int    // of block
	size  int    // of the last block made
	dirty bool   // the block has been used for another file

	kept     [][]slot // blocks that a Reader uses again
	next     int      // index in kept of the next block to use
	stale    int      // number of kept blocks with entries of earlier files
	capacity int      // number of entries of all kept blocks
}

// slot is an entry and the memory of its Str, which has one element in most.
type slot struct {
	Entry
	str [1]string
}

// maxEntryBlock slots fill an allocation of 28 KiB.
const maxEntryBlock = 119

// new returns an entry. rest is the number of bytes left to read.
func (a *entryArena) new(rest int) *Entry {
	if a.used == len(a.block) {
		a.refill(rest)
	}
	s := &a.block[a.used]
	a.used++
	if a.dirty {
		s.reset()
	}
	return &s.Entry
}

// reset makes an entry of an earlier file like a new one, except for ID and Str,
// which every entry gets. It stores a pointer only where there is one: the write
// barrier costs time, and most of these are nil.
func (s *slot) reset() {
	e := &s.Entry
	e.Line, e.KeywordLine = 0, 0
	e.HasPlural, e.Fuzzy, e.Obsolete, e.Duplicate = false, false, false, false
	if e.HasContext {
		e.Context, e.HasContext = "", false
	}
	if e.Domain != "" {
		e.Domain = ""
	}
	if e.IDPlural != "" {
		e.IDPlural = ""
	}
	if e.Previous != nil {
		e.Previous = nil
	}
	for _, list := range []*[]string{&e.Flags, &e.References, &e.Comments, &e.Extracted} {
		if *list != nil {
			*list = nil
		}
	}
}

// dropOne clears the string that the last entry's slot has from an earlier file.
func (a *entryArena) dropOne() { a.block[a.used-1].str[0] = "" }

// one returns a list of one string for the last entry.
func (a *entryArena) one(s string) []string {
	str := &a.block[a.used-1].str
	str[0] = s
	return str[:]
}

func (a *entryArena) refill(rest int) {
	a.used = 0
	if a.next < len(a.kept) {
		a.block, a.dirty = a.kept[a.next], true
		a.next++
		return
	}
	// Few entries have fewer than 64 bytes.
	a.size = min(max(2*a.size, rest/64+1), maxEntryBlock)
	a.block, a.dirty = make([]slot, a.size), false
	if a.capacity < maxReused && a.kept != nil {
		a.kept = append(a.kept, a.block)
		a.next = len(a.kept)
		a.capacity += a.size
	}
}

// finish clears the entries of earlier files in blocks that the present file does
// not use: they would keep the text of those files in memory.
func (a *entryArena) finish() {
	if a.dirty {
		clear(a.block[a.used:])
	}
	for ; a.stale > a.next; a.stale-- {
		clear(a.kept[a.stale-1])
	}
}

// A Reader parses many files, one after the other, in the same memory. Its zero
// value is ready to use. It belongs to one goroutine.
type Reader struct {
	slots   entryArena
	entries []*Entry
	plurals []*Entry
	hashes  []uint64
}

// maxReused bounds the entries whose memory a Reader keeps: some 14 MB.
const maxReused = 1 << 16

// Parse is like the function [Parse], but the next call overwrites the Entries of
// the File. Their strings stay valid. If data is in UTF-8 they share its memory, so
// data must not change while they are in use. The File does not keep the text that
// it was read from: WriteTo writes it like a File made by hand.
func (r *Reader) Parse(name string, data []byte) (*File, error) { return parse(name, data, r, nil) }

// lend gives a parser the memory of the Reader. A parser without a Reader gets its
// own.
func (r *Reader) lend(p *parser) {
	if r == nil {
		p.slots = new(entryArena)
		n := len(p.text)/128 + 4
		p.entries = make([]*Entry, 0, n)
		p.hashes = make([]uint64, 0, n)
		return
	}
	if r.slots.kept == nil {
		r.slots.kept = make([][]slot, 0, 16)
	}
	a := &r.slots // all kept blocks are free for another file
	a.block, a.used, a.stale, a.next, a.size = nil, 0, max(a.stale, a.next), 0, 0
	p.slots = a
	p.entries, p.hashes, p.plurals = r.entries[:0], r.hashes[:0], r.plurals[:0]
}

// dropTail clears the elements after list that the longer list before left in their
// memory.
func dropTail(list, before []*Entry) {
	if n := min(len(before), cap(list)); n > len(list) {
		clear(list[len(list):n])
	}
}

// takeBack takes the memory back from a parser that has read its file.
func (r *Reader) takeBack(p *parser) {
	if r == nil {
		return
	}
	r.slots.finish()
	if cap(p.entries) <= 2*maxReused {
		dropTail(p.entries, r.entries)
		dropTail(p.plurals, r.plurals)
		r.entries, r.hashes, r.plurals = p.entries, p.hashes, p.plurals
	}
}
