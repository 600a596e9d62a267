package query

import (
	"bytes"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Folder makes texts that differ in case alone equal: Unicode's simple folding,
// which maps one character to one (so "ß" is not "ss"), of any language. The
// zero value is ready; one Folder may be used by several goroutines.
type Folder struct {
	// pages hold the folded form of 256 characters each, made when first met:
	// unicode.SimpleFold takes 50 ns a letter.
	pages   [256]atomic.Pointer[[256]uint16]
	scratch sync.Pool // *[]byte
}

// String folds a text. Bytes that are no UTF-8 stay as they are.
func (f *Folder) String(s string) string { return string(f.append(nil, s)) }

// contains reports whether the folded needle is in s.
func (f *Folder) contains(s string, needle []byte) bool {
	if len(needle) == 0 {
		return true
	}
	buf, ok := f.scratch.Get().(*[]byte)
	if !ok {
		buf = new([]byte)
	}
	*buf = f.append((*buf)[:0], s)
	found := bytes.Contains(*buf, needle)
	if cap(*buf) <= 1<<20 {
		f.scratch.Put(buf)
	}
	return found
}

func (f *Folder) append(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'A' <= c && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
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

// foldRune is the least of the characters that r folds to, an ASCII letter in
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
