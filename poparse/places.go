package poparse

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

// none drops the string that the last entry's room for one has of an earlier file.
func (a *entryArena) none() { a.block[a.used-1].str[0] = "" }

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
