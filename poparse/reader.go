package poparse

// A Reader parses many files, one after the other, in the same memory. Its zero
// value is ready. It belongs to one goroutine.
type Reader struct {
	slots   entryArena
	entries []*Entry
	plurals []*Entry
	hashes  []uint64
}

// maxReused bounds the entries whose memory a Reader keeps: some 14 MB.
const maxReused = 1 << 16

// Parse is like the function, but the next call overwrites the Entries of the
// File; their strings stay. Of a file in UTF-8 they are the memory of data, which
// nobody may change as long as they are in use. The File has no memory of what it was read from:
// WriteTo writes it like one that was made by hand.
func (r *Reader) Parse(name string, data []byte) (*File, error) { return parse(name, data, r) }

// lend gives a parser the memory that there is. A parser without a Reader has
// its own.
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

// dropTail clears what is left of a longer list in the memory of another one.
func dropTail(list, before []*Entry) {
	if n := min(len(before), cap(list)); n > len(list) {
		clear(list[len(list):n])
	}
}

// takeBack takes the memory of a file that has been read.
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
