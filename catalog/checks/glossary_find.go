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

// wordFinder finds many words in one pass over a text, ignoring case (Aho and
// Corasick, "Efficient string matching", 1975).
type wordFinder struct {
	numbers map[string]int
	next    map[edge]int32
	nodes   []wordNode
}

type edge struct {
	node int32
	char rune
}

// wordNode is a state: the text read so far ends with this prefix of a word.
type wordNode struct {
	parent int32
	char   rune
	depth  int32 // length of the prefix in characters
	word   int32 // number of the word that the prefix is, or -1
	fail   int32 // the longest other prefix that the text ends with
	output int32 // the longest other whole word that the text ends with, or 0
}

func newWordFinder() *wordFinder {
	return &wordFinder{numbers: make(map[string]int), next: make(map[edge]int32), nodes: []wordNode{{word: -1}}}
}

// add adds a word and returns its number; false if the word is empty or too long.
func (f *wordFinder) add(word string) (int, bool) {
	word = strings.TrimSpace(word)
	if word == "" || len(word) > maxTerm {
		return 0, false
	}
	node := int32(0)
	var folded strings.Builder
	for _, c := range word {
		c = fold(c)
		folded.WriteRune(c)
		to, ok := f.next[edge{node, c}]
		if !ok {
			to = int32(len(f.nodes))
			f.next[edge{node, c}] = to
			f.nodes = append(f.nodes, wordNode{parent: node, char: c, depth: f.nodes[node].depth + 1, word: -1})
		}
		node = to
	}
	n, ok := f.numbers[folded.String()]
	if !ok {
		n = len(f.numbers)
		f.numbers[folded.String()] = n
		f.nodes[node].word = int32(n)
	}
	return n, true
}

// finish links the states. No words can be added after it.
func (f *wordFinder) finish() {
	byDepth := make([][]int32, 1)
	for i := range f.nodes[1:] {
		d := int(f.nodes[i+1].depth)
		for len(byDepth) <= d {
			byDepth = append(byDepth, nil)
		}
		byDepth[d] = append(byDepth[d], int32(i+1))
	}
	for _, level := range byDepth {
		for _, i := range level {
			n := &f.nodes[i]
			if n.parent != 0 {
				n.fail = f.step(f.nodes[n.parent].fail, n.char)
			}
			if n.output = n.fail; f.nodes[n.fail].word < 0 {
				n.output = f.nodes[n.fail].output
			}
		}
	}
	f.numbers = nil
}

func (f *wordFinder) step(node int32, c rune) int32 {
	for {
		if to, ok := f.next[edge{node, c}]; ok {
			return to
		}
		if node == 0 {
			return 0
		}
		node = f.nodes[node].fail
	}
}

// find returns the whole words of s, each at its first place. In scripts that do
// not separate words, any place counts.
func (f *wordFinder) find(s string) []foundWord {
	var all []foundWord
	var seen map[int32]struct{}
	node := int32(0)
	for i, c := range s {
		node = f.step(node, fold(c))
		_, size := utf8.DecodeRuneInString(s[i:])
		end := i + size
		n := node
		if f.nodes[n].word < 0 {
			n = f.nodes[n].output
		}
		if n == 0 || joined(c, s[end:], false) {
			continue
		}
		from, back := end, int32(0)
		for ; n != 0; n = f.nodes[n].output { // from the longest to the shortest
			w := &f.nodes[n]
			if _, ok := seen[w.word]; ok {
				continue
			}
			for ; back < w.depth; back++ {
				_, size := utf8.DecodeLastRuneInString(s[:from])
				from -= size
			}
			for ; back > w.depth; back-- {
				_, size := utf8.DecodeRuneInString(s[from:])
				from += size
			}
			if first, _ := utf8.DecodeRuneInString(s[from:]); joined(first, s[:from], true) {
				continue
			}
			if all = append(all, foundWord{int(w.word), Span{from, end}}); seen == nil {
				seen = make(map[int32]struct{})
			}
			seen[w.word] = struct{}{}
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
