package msgmerge

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/repoglot/repoglot/poparse"
)

const (
	// threshold is the similarity above which a text is offered.
	threshold = 0.6
	// sameContext is what an entry is preferred by that has the context, or none.
	sameContext = 0.00001
	// gramLength is the number of characters that two strings must have in common.
	gramLength = 4
)

// similar finds similar sources as msgmerge does: candidates share four characters in
// sequence, and of the most similar ones the first is taken, of those that share more of these
// sequences. It remembers what was found for other files: those that are updated to one
// template lack the same strings, and have nearly the same ones. The zero value is empty; it
// is not safe for concurrent use.
type similar struct {
	numbers map[string]int32 // of sources of all files
	texts   []string         // by number
	grams   map[[gramLength]rune][]int32
	short   []int32 // sources of few bytes
	shared  []int32 // of each source: how many of its grams a string has
	found   map[string]*ranking
	matches int // in found

	// Of the file: its entries, the first one with a source, the next one with the same source,
	// and what comparing a string of up to 64 bytes with all of them counts.
	list        []*poparse.Entry
	first, next []int32
	cost        int
}

// ranking has the most similar of the first sources, the best first: all, or maxBest.
type ranking struct {
	until int
	best  []match
}

// match is a source that is similar to a string, and how many grams of it the string has.
type match struct {
	number, shared int32
	weight         float64
}

const (
	// shortBytes bounds sources that are compared with those of less than four characters.
	shortBytes = 28
	// maxBest bounds a ranking, maxMatches all of them with perRanking for each, maxTimes how
	// many times the sources of the file are remembered.
	maxBest    = 16
	maxMatches = 1 << 20
	perRanking = 4
	maxTimes   = 3
)

// blocks is the number of 64 bytes of a string.
func blocks(s string) int { return (len(s) + 63) / 64 }

// of makes s look among the translated entries of a file.
func (s *similar) of(list []*poparse.Entry) {
	if len(s.texts) > maxTimes*len(list)+1000 {
		*s = similar{}
	}
	if s.numbers == nil {
		s.numbers, s.grams, s.found = map[string]int32{}, map[[gramLength]rune][]int32{}, map[string]*ranking{}
	}
	s.list, s.next, s.cost = list, make([]int32, len(list)), 0
	clear(s.first)
	for i := len(list) - 1; i >= 0; i-- {
		if e := list[i]; translated(e) && e.ID != "" {
			n := s.number(e.ID)
			s.next[i], s.first[n] = s.first[n], int32(i+1)
			s.cost += blocks(e.ID)
		}
	}
}

// number returns the number of a source.
func (s *similar) number(id string) int32 {
	if n, ok := s.numbers[id]; ok {
		return n
	}
	n := int32(len(s.texts))
	s.numbers[id], s.texts, s.first, s.shared = n, append(s.texts, id), append(s.first, 0), append(s.shared, 0)
	if len(id) <= shortBytes {
		s.short = append(s.short, n)
	}
	for _, gram := range gramsOf(id) {
		if at := s.grams[gram]; len(at) == 0 || at[len(at)-1] != n {
			s.grams[gram] = append(at, n)
		}
	}
	return n
}

// gramsOf lists all sequences of four characters of a string.
func gramsOf(s string) (list [][gramLength]rune) {
	runes := []rune(s)
	for i := range max(0, len(runes)-gramLength+1) {
		list = append(list, [gramLength]rune(runes[i:]))
	}
	return list
}

// search returns the entry of the file whose source is the most similar, -1 if none is similar
// enough.
func (s *similar) search(ref *poparse.Entry) int {
	if ref.ID == "" {
		return -1
	}
	r := s.found[ref.ID]
	if r == nil {
		r = &ranking{}
		if s.matches < maxMatches {
			s.found[ref.ID] = r
			s.matches += perRanking
		}
	}
	s.rank(r, ref.ID)
	c := choice{at: -1, weight: threshold}
	for _, m := range r.best {
		if m.weight+sameContext < c.weight {
			break
		}
		s.offer(&c, ref, m)
	}
	if len(r.best) < maxBest || c.weight > r.best[maxBest-1].weight+sameContext {
		return c.at
	}
	// Too few of the most similar ones are in this file.
	c = choice{at: -1, weight: threshold}
	pattern := NewPattern(ref.ID)
	for _, m := range s.candidates(ref.ID, 0) {
		if s.first[m.number] != 0 {
			m.weight = pattern.Similarity(s.texts[m.number], c.weight-sameContext*1.01)
			s.offer(&c, ref, m)
		}
	}
	return c.at
}

// choice is the entry that is the most similar so far, -1 if none is.
type choice struct {
	at     int
	weight float64
	shared int32
}

// offer has the entries of the file with a source compete.
func (s *similar) offer(c *choice, ref *poparse.Entry, m match) {
	for i := s.first[m.number] - 1; i >= 0; i = s.next[i] - 1 {
		e, w := s.list[i], m.weight
		if !e.HasContext || ref.HasContext && ref.Context == e.Context {
			w += sameContext
		}
		if w > c.weight || w == c.weight && c.at >= 0 && (m.shared > c.shared || m.shared == c.shared && int(i) < c.at) {
			*c = choice{int(i), w, m.shared}
		}
	}
}

// rank compares a string with the sources that came since its ranking was made.
func (s *similar) rank(r *ranking, id string) {
	if r.until == len(s.texts) {
		return
	}
	pattern, had := NewPattern(id), len(r.best)
	for _, m := range s.candidates(id, r.until) {
		least := threshold - sameContext*1.01
		if len(r.best) == maxBest {
			least = r.best[maxBest-1].weight
		}
		if m.weight = pattern.Similarity(s.texts[m.number], least); m.weight < least {
			continue
		}
		at, _ := slices.BinarySearchFunc(r.best, m.weight, func(o match, w float64) int { return cmp.Compare(w, o.weight) })
		r.best = slices.Insert(r.best[:min(len(r.best), maxBest-1)], min(at, maxBest-1), m)
	}
	r.until = len(s.texts)
	s.matches += len(r.best) - had
}

// candidates lists the sources from a number on that are to be compared with a string, in
// msgmerge's order: first those that share the most, or of few characters the shorter ones.
func (s *similar) candidates(id string, from int) (list []match) {
	grams := gramsOf(id)
	if len(grams) == 0 {
		least, most := int(math.Ceil(float64(len(id))/(2/threshold-1))), int(float64(len(id))*(2/threshold-1))
		for _, n := range s.short {
			if size := len(s.texts[n]); int(n) >= from && least <= size && size <= most {
				list = append(list, match{number: n, shared: int32(-size)})
			}
		}
	}
	for _, gram := range grams {
		all := s.grams[gram]
		at, _ := slices.BinarySearch(all, int32(from))
		for _, n := range all[at:] {
			if s.shared[n]++; s.shared[n] == 1 {
				list = append(list, match{number: n})
			}
		}
	}
	if len(grams) > 0 {
		for i := range list {
			m := &list[i]
			m.shared, s.shared[m.number] = s.shared[m.number], 0
		}
	}
	slices.SortFunc(list, func(a, b match) int { return int(b.shared - a.shared) })
	return list
}

// Match is one of the strings that are similar to another.
type Match struct {
	// Index is its place in the list that was searched.
	Index int
	// Similarity is msgmerge's measure, above 0.6.
	Similarity float64
}

// Similar returns for each of some strings which others are similar enough for their texts to
// be offered, the most similar first, at most maxBest sources. Comparisons are counted as
// Options.Comparisons are: when they are used up, it returns what it has found, and true.
func Similar(strings, others []string, comparisons int) (found [][]Match, stopped bool) {
	found = make([][]Match, len(strings))
	list := make([]*poparse.Entry, len(others))
	for i, id := range others {
		list[i] = &poparse.Entry{ID: id, Str: others[i : i+1]} // translated, if it is not empty
	}
	var s similar
	s.of(list)
	for k, id := range strings {
		if comparisons -= blocks(id) * s.cost; comparisons < 0 {
			return found, true
		}
		if id == "" {
			continue
		}
		var r ranking
		s.rank(&r, id)
		for _, m := range r.best {
			for i := s.first[m.number] - 1; m.weight > threshold && i >= 0; i = s.next[i] - 1 {
				found[k] = append(found[k], Match{int(i), m.weight})
			}
		}
	}
	return found, false
}

// Similarity returns msgmerge's measure of how similar strings are to s: 1 for the same, and 0
// for one that is not similar enough for its text to be offered.
func Similarity(s string) func(other string) float64 {
	p := NewPattern(s)
	return func(other string) float64 {
		if w := p.Similarity(other, threshold); w > threshold {
			return w
		}
		return 0
	}
}

// Pattern is a string that is compared with many others. It is safe for concurrent use.
type Pattern struct {
	text  string
	count [256]int      // of each byte
	at    [256][]uint64 // of each byte: a bit for each place where it is
}

// NewPattern makes the pattern of a string.
func NewPattern(s string) *Pattern {
	p := &Pattern{text: s}
	for i := range len(s) {
		c := s[i]
		if p.at[c] == nil {
			p.at[c] = make([]uint64, blocks(s))
		}
		p.at[c][i/64] |= 1 << (i % 64)
		p.count[c]++
	}
	return p
}

// Similarity is gettext's measure of two strings (fstrcmp): the bytes of their longest
// common subsequence by their average length. Below least it may return 0.
func (p *Pattern) Similarity(s string, least float64) float64 {
	sum := len(p.text) + len(s)
	if s == p.text {
		return 1
	}
	if 2*float64(min(len(p.text), len(s)))/float64(sum) < least {
		return 0
	}
	count, common := p.count, 0
	for i := range len(s) {
		if count[s[i]] > 0 {
			count[s[i]]--
			common++
		}
	}
	if 2*float64(common)/float64(sum) < least {
		return 0
	}
	return 2 * float64(p.common(s)) / float64(sum)
}

// common is the length of the longest common subsequence, 64 places at a time (Hyyrö,
// "Bit-parallel LCS-length computation revisited", 2004).
func (p *Pattern) common(s string) int {
	var few [16]uint64
	n := blocks(p.text)
	row := few[:min(n, len(few))]
	if n > len(few) {
		row = make([]uint64, n)
	}
	for i := range row {
		row[i] = math.MaxUint64
	}
	for i := range len(s) {
		at := p.at[s[i]]
		if at == nil {
			continue
		}
		carry := uint64(0)
		for j, v := range row {
			u := v & at[j]
			var sum uint64
			sum, carry = bits.Add64(v, u, carry)
			row[j] = sum | (v - u)
		}
	}
	n = 0
	for j, v := range row {
		zeros := ^v
		if rest := len(p.text) - 64*j; rest < 64 {
			zeros &= 1<<rest - 1
		}
		n += bits.OnesCount64(zeros)
	}
	return n
}
