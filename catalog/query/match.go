package query

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/catalog"
)

// Kind is a kind of comparison.
type Kind int

// The kinds of comparison.
const (
	// Contains: the text contains the pattern, in any case.
	Contains Kind = iota
	// Exact: the text equals the pattern.
	Exact
	// Regexp: the text contains a match of the pattern, a regular expression of
	// RE2.
	Regexp
)

// Match is a comparison with a text. The plural forms of a text are compared as
// one, joined by catalog.FormSeparator.
type Match struct {
	// Kind is how Pattern is compared.
	Kind Kind
	// Pattern is the text to compare with; every text contains "".
	Pattern string
}

// Compile returns the test of a match, and folded texts of which the folded form of every
// text that matches has one; a text that matches exactly is equal to it. Nil: none are known.
// The test is safe for concurrent use and does not keep the text. Tests may share fold.
func (m Match) Compile(fold *Folder) (test func(text string) bool, needles [][]byte, err error) {
	if m.Kind == Regexp {
		return compileRegexp(m.Pattern, fold)
	}
	needle := []byte(fold.String(m.Pattern))
	if needles = [][]byte{needle}; m.Kind == Exact {
		return func(s string) bool { return s == m.Pattern }, needles, nil
	}
	return func(s string) bool {
		return len(needle) == 0 || fold.folded(s, func(text []byte) bool { return bytes.Contains(text, needle) })
	}, needles, nil
}

// compileRegexp compiles a regular expression, which matches anywhere
// in the text and respects case, as in PostgreSQL. Its test first looks for literals
// that every match contains, which is 20 times as fast.
func compileRegexp(pattern string, fold *Folder) (test func(string) bool, needles [][]byte, err error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, nil, fmt.Errorf("compile %q: %w", pattern, err)
	}
	tree, _ := syntax.Parse(pattern, syntax.Perl) // as regexp did, without an error
	all := literalsOf(tree.Simplify())
	for _, one := range all {
		needles = append(needles, []byte(fold.String(one.text)))
	}
	found := all.test(fold)
	if found == nil {
		return re.MatchString, nil, nil
	}
	return func(s string) bool { return found(s) && re.MatchString(s) }, needles, nil
}

// literal is a text to look for, in any case if fold is true.
type literal struct {
	text string
	fold bool
}

// literals are texts of which at least one is in every match of a regular
// expression; empty if none are known.
type literals []literal

// maxLiterals limits the literals to look for.
const maxLiterals = 16

// literalsOf finds the literals of a simplified tree.
func literalsOf(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if text == "" || strings.ContainsRune(text, utf8.RuneError) { // it matches invalid UTF-8, too
			return nil
		}
		return literals{{text, re.Flags&syntax.FoldCase != 0}}
	case syntax.OpCapture, syntax.OpPlus:
		return literalsOf(re.Sub[0])
	case syntax.OpConcat:
		var best literals
		for _, sub := range re.Sub {
			if n := literalsOf(sub); n.shortest() > best.shortest() {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all literals
		for _, sub := range re.Sub {
			n := literalsOf(sub)
			if len(n) == 0 || len(all)+len(n) > maxLiterals {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// shortest is the length of the shortest literal; the longer it is, the fewer
// texts contain it.
func (n literals) shortest() int {
	if len(n) == 0 {
		return 0
	}
	least := len(n[0].text)
	for _, one := range n[1:] {
		least = min(least, len(one.text))
	}
	return least
}

// test returns a test whether a text contains one of the literals; nil if none are
// known.
func (n literals) test(fold *Folder) func(string) bool {
	var exact []string
	var folded [][]byte
	for _, one := range n {
		if one.fold {
			folded = append(folded, []byte(fold.String(one.text)))
		} else {
			exact = append(exact, one.text)
		}
	}
	if len(n) == 0 {
		return nil
	}
	return func(s string) bool {
		for _, text := range exact {
			if strings.Contains(s, text) {
				return true
			}
		}
		return len(folded) > 0 && fold.folded(s, func(text []byte) bool {
			return slices.ContainsFunc(folded, func(needle []byte) bool { return bytes.Contains(text, needle) })
		})
	}
}

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
			if x := catalog.Load8(s[i:]); x&highBits == 0 {
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
