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

// room returns an empty slice to append to, with room for n bytes at least, and
// then to be given to keep, or forgotten.
func (a *textArena) room(n int) []byte {
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
		return a.keep(append(a.room(len(b)), b...))
	}
	return unsafe.String(&b[0], len(b)) // nobody writes there any more
}
