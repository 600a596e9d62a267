package poparse

import "unsafe"

// stringArena hands out small slices of strings cut from larger blocks: most
// entries need two or three slices of one element, and an allocation for each
// would cost more than the parsing.
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
	for i, s := range src { // cheaper than copy for the few that there are
		a.block[at+i] = s
	}
	return a.block[at : at+n : at+n]
}

// one is copy for one element, as most lists have.
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

// textArena keeps the strings that had to be built, many in one chunk.
type textArena struct {
	chunk []byte
	used  int // of chunk
}

const (
	minChunk = 512
	maxChunk = 64 << 10
)

// reserve returns an empty slice to append to, with room for n bytes at least, and
// then to be given to keep, or forgotten.
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

// keep returns what was appended to the last room as a string. What outgrew it
// is copied to another room, if one in the chunk is large enough.
func (a *textArena) keep(b []byte) string {
	switch {
	case len(b) == 0:
		return ""
	case a.used < len(a.chunk) && &b[0] == &a.chunk[a.used]:
		a.used += len(b)
	case len(b) <= maxChunk/8:
		return a.keep(append(a.reserve(len(b)), b...))
	}
	return unsafe.String(&b[0], len(b)) // nobody writes there any more
}

// entryArena hands out zeroed entries cut from blocks, so that a block is
// cleared when it is about to be filled, while it is in the processor's cache,
// and nothing has to be known of how many there will be.
type entryArena struct {
	block []slot // the last one
	used  int    // of block
	size  int    // of the last one made
	dirty bool   // the block has been used for another file

	// of a Reader: blocks to use again, and how many entries they have.
	kept     [][]slot
	next     int // of kept
	stale    int // how many of kept have entries of earlier files
	capacity int
}

// slot is an entry and what Str is for nearly all.
type slot struct {
	Entry
	str [1]string
}

// maxEntryBlock is what fills an allocation of 28 KiB.
const maxEntryBlock = 123

// new returns an entry. rest is how much of the text is left.
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

// reset makes an entry of an earlier file like a new one, but for ID and Str,
// which every entry gets. Storing a pointer costs while garbage is collected,
// and most of these are nil.
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

// dropOne drops the string that the last entry's room for one has of an earlier file.
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
	// Few entries have less than 64 bytes.
	a.size = min(max(2*a.size, rest/64+1), maxEntryBlock)
	a.block, a.dirty = make([]slot, a.size), false
	if a.capacity < maxReused && a.kept != nil {
		a.kept = append(a.kept, a.block)
		a.next = len(a.kept)
		a.capacity += a.size
	}
}

// rewind makes all blocks that are kept free again, for another file.
func (a *entryArena) rewind() {
	a.block, a.used, a.stale, a.next, a.size = nil, 0, max(a.stale, a.next), 0, 0
}

// finish clears what earlier files have left in the blocks that the present one
// does not use, as it would keep their text in memory.
func (a *entryArena) finish() {
	if a.dirty {
		clear(a.block[a.used:])
	}
	for ; a.stale > a.next; a.stale-- {
		clear(a.kept[a.stale-1])
	}
}
