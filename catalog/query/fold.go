package query

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Folder makes texts equal that differ only in case, by Unicode's simple folding,
// which maps one character to one (so "ß" does not become "ss"), for all
// languages. The zero value is ready to use. It is safe for concurrent use.
type Folder struct {
	// pages hold the folded forms of 256 characters each, filled on first use:
	// unicode.SimpleFold takes 50 ns a letter.
	pages   [256]atomic.Pointer[[256]uint16]
	scratch sync.Pool // *[]byte
}

// String folds a text. Invalid UTF-8 is kept.
func (f *Folder) String(s string) string { return string(f.Append(nil, s)) }

// containsAny reports whether s, folded, contains one of the folded needles.
func (f *Folder) containsAny(s string, needles [][]byte) bool {
	return f.folded(s, func(text []byte) bool {
		return slices.ContainsFunc(needles, func(needle []byte) bool { return bytes.Contains(text, needle) })
	})
}

// folded calls test with the folded form of s, which test must not keep.
func (f *Folder) folded(s string, test func(text []byte) bool) bool {
	buf, ok := f.scratch.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	*buf = f.Append((*buf)[:0], s)
	found := test(*buf)
	if cap(*buf) <= 1<<20 {
		f.scratch.Put(buf)
	}
	return found
}

// Append appends the folded form of s to b. It folds ASCII eight bytes at a time.
// A folded text is never longer: the smallest of equal characters is taken.
func (f *Folder) Append(b []byte, s string) []byte {
	b = slices.Grow(b, len(s))
	for i := 0; i < len(s); {
		if len(s)-i >= 8 {
			if x := load8(s[i:]); x&highBits == 0 {
				b = binary.LittleEndian.AppendUint64(b, lower8(x))
				i += 8
				continue
			}
		}
		c := s[i]
		if c < utf8.RuneSelf {
			b = append(b, lower1(c))
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(b, c)
		} else {
			b = utf8.AppendRune(b, f.rune(r))
		}
		i += n
	}
	return b
}

const highBits = 0x8080808080808080

func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// lower8 adds 32 to each of eight ASCII bytes in A to Z: bit 7 of one sum says
// whether a byte is at least 'A', bit 7 of the other whether it is greater than
// 'Z'.
func lower8(x uint64) uint64 {
	const each = 0x0101010101010101
	atLeastA := x + each*(0x80-'A')
	beyondZ := x + each*(0x80-'Z'-1)
	return x + (atLeastA&^beyondZ&highBits)>>2
}

func lower1(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

func (f *Folder) rune(r rune) rune {
	if r > 0xffff {
		return foldRune(r)
	}
	page := f.pages[r>>8].Load()
	if page == nil {
		page = new([256]uint16)
		for i := range page {
			page[i] = uint16(foldRune(r&^0xff | rune(i)))
		}
		f.pages[r>>8].Store(page)
	}
	return rune(page[r&0xff])
}

// foldRune is the smallest of the characters that r folds to; ASCII letters become
// lower case.
func foldRune(r rune) rune {
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		least = min(least, o)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}
