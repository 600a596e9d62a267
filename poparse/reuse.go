package poparse

// A Reader parses many files, one after the other, in the same memory. Its zero
// value is ready. It belongs to one goroutine.
type Reader struct{ entries []Entry }

// maxReused bounds the entries whose memory a Reader keeps: some 14 MB.
const maxReused = 1 << 16

// Parse is like the function, but the next call overwrites the Entries of the
// File; their strings stay. The File has no memory of what it was read from:
// WriteTo writes it like one that was made by hand.
func (r *Reader) Parse(name string, data []byte) (*File, error) { return parse(name, data, r) }

// take returns empty room for entries; nil if there is none.
func (r *Reader) take() []Entry {
	if r == nil {
		return nil
	}
	room := r.entries
	clear(room)
	r.entries = nil
	return room[:0]
}

// give takes back what a file's entries stand in.
func (r *Reader) give(entries []Entry) {
	if r != nil && cap(entries) <= maxReused {
		r.entries = entries
	}
}
