package poparse

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
func (r *Reader) Parse(name string, data []byte) (*File, error) { return parse(name, data, r) }

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
	r.slots.rewind()
	p.slots = &r.slots
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
