package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTerm is the length of the longest term, in bytes. Longer ones are ignored.
const maxTerm = 200

// foundWord is an occurrence of a word of a wordFinder.
type foundWord struct {
	number int
	at     Span
}

// wordFinder finds many words in one pass over a text, ignoring case. From where a
// word may begin it follows the characters that words begin with, maxTerm bytes at
// most.
type wordFinder struct {
	next  map[edge]int32 // from the prefixes of words, 0 is the empty one
	words []int          // of each prefix: the number of the word that it is, or -1
	count int            // of words
}

type edge struct {
	prefix int32
	char   rune
}

func newWordFinder() *wordFinder {
	return &wordFinder{next: make(map[edge]int32), words: []int{-1}}
}

// add adds a word and returns its number; false if the word is empty or too long.
func (f *wordFinder) add(word string) (int, bool) {
	word = strings.TrimSpace(word)
	if word == "" || len(word) > maxTerm {
		return 0, false
	}
	prefix := int32(0)
	for _, c := range word {
		e := edge{prefix, fold(c)}
		to, ok := f.next[e]
		if !ok {
			to = int32(len(f.words))
			f.next[e] = to
			f.words = append(f.words, -1)
		}
		prefix = to
	}
	if f.words[prefix] < 0 {
		f.words[prefix] = f.count
		f.count++
	}
	return f.words[prefix], true
}

// find returns the whole words of s, each at its first place. In scripts that do
// not separate words, any place counts.
func (f *wordFinder) find(s string) []foundWord {
	var all []foundWord
	seen := map[int]bool{}
	for from, first := range s {
		if joined(first, s[:from], true) {
			continue
		}
		prefix, more := int32(0), true
		for i, c := range s[from:] {
			if prefix, more = f.next[edge{prefix, fold(c)}]; !more {
				break
			}
			n := f.words[prefix]
			if n < 0 || seen[n] {
				continue
			}
			_, size := utf8.DecodeRuneInString(s[from+i:])
			if end := from + i + size; !joined(c, s[end:], false) {
				seen[n] = true
				all = append(all, foundWord{n, Span{from, end}})
			}
		}
	}
	return all
}

// joined reports whether c and its neighbour, the last or first character of rest,
// are in one word.
func joined(c rune, rest string, before bool) bool {
	if rest == "" || !wordRune(c) || unseparated(c) {
		return false
	}
	neighbour, _ := utf8.DecodeRuneInString(rest)
	if before {
		neighbour = last(rest)
	}
	return (wordRune(neighbour) || unicode.IsMark(neighbour)) && !unseparated(neighbour)
}

// unseparated reports whether the script of c puts no blanks between words.
func unseparated(c rune) bool {
	return c >= 0xe00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func fold(c rune) rune { return unicode.ToLower(c) }
