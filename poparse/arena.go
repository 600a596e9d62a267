package poparse

import "strings"

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
	chunk strings.Builder
	size  int
}

const (
	minChunk = 512
	maxChunk = 64 << 10
)

// reserve makes room for n bytes and returns the builder to write them to and
// the index at which they begin there. A string must not be written beyond what
// was reserved: the builder would move, and leave the old chunk's strings
// behind alive twice.
func (a *textArena) reserve(n int) (*strings.Builder, int) {
	if n > maxChunk/8 {
		own := new(strings.Builder)
		own.Grow(n)
		return own, 0
	}
	if n > a.chunk.Cap()-a.chunk.Len() {
		a.size = min(max(2*a.size, minChunk, n), maxChunk)
		a.chunk = strings.Builder{}
		a.chunk.Grow(a.size)
	}
	return &a.chunk, a.chunk.Len()
}
