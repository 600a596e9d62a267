package msgmerge

import (
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

// index finds similar sources as msgmerge does: candidates share four characters in
// sequence; those that share more of them are compared first, and the first of the most
// similar ones is taken.
type index struct {
	list        []*poparse.Entry
	grams       map[[gramLength]rune][]int32
	short       []int32 // entries of few bytes, the shorter first
	shared      []int32 // of each entry: how many of its grams the string has
	comparisons int     // left
}

// shortBytes bounds sources that are compared with those of less than four characters.
const shortBytes = 28

// newIndex makes an index of the translated entries.
func newIndex(list []*poparse.Entry, comparisons int) *index {
	x := &index{list: list, grams: map[[gramLength]rune][]int32{}, shared: make([]int32, len(list)), comparisons: comparisons}
	for i, e := range list {
		if !translated(e) || e.ID == "" {
			continue
		}
		if len(e.ID) <= shortBytes {
			x.short = append(x.short, int32(i))
		}
		for _, gram := range gramsOf(e.ID) {
			at := x.grams[gram]
			if len(at) == 0 || at[len(at)-1] != int32(i) {
				x.grams[gram] = append(at, int32(i))
			}
		}
	}
	slices.SortStableFunc(x.short, func(a, b int32) int { return len(list[a].ID) - len(list[b].ID) })
	return x
}

// gramsOf lists all sequences of four characters of a string.
func gramsOf(s string) (list [][gramLength]rune) {
	runes := []rune(s)
	for i := range max(0, len(runes)-gramLength+1) {
		list = append(list, [gramLength]rune(runes[i:]))
	}
	return list
}

// search returns the entry whose source is the most similar, -1 if none is similar
// enough. It returns false when there are no comparisons left.
func (x *index) search(ref *poparse.Entry) (int, bool) {
	if ref.ID == "" {
		return -1, true
	}
	pattern := newPattern(ref.ID)
	best, weight := -1, threshold
	for _, i := range x.candidates(ref.ID) {
		if x.comparisons--; x.comparisons < 0 {
			return -1, false
		}
		e, bonus := x.list[i], 0.0
		if !e.HasContext || ref.HasContext && ref.Context == e.Context {
			bonus = sameContext
		}
		if w := pattern.similarity(e.ID, weight-bonus*1.01) + bonus; w > weight {
			best, weight = int(i), w
		}
	}
	return best, true
}

// candidates lists the entries to be compared, in msgmerge's order.
func (x *index) candidates(id string) (list []int32) {
	grams := gramsOf(id)
	if len(grams) == 0 {
		least, most := int(math.Ceil(float64(len(id))/(2/threshold-1))), int(float64(len(id))*(2/threshold-1))
		for _, i := range x.short {
			if n := len(x.list[i].ID); least <= n && n <= most {
				list = append(list, i)
			}
		}
		return list
	}
	for _, gram := range grams {
		for _, i := range x.grams[gram] {
			if x.shared[i]++; x.shared[i] == 1 {
				list = append(list, i)
			}
		}
	}
	slices.SortFunc(list, func(a, b int32) int {
		if d := x.shared[b] - x.shared[a]; d != 0 {
			return int(d)
		}
		return int(a - b)
	})
	for _, i := range list {
		x.shared[i] = 0
	}
	return list
}

// pattern is a string that is compared with many others.
type pattern struct {
	text  string
	count [256]int      // of each byte
	at    [256][]uint64 // of each byte: a bit for each place where it is
	row   []uint64
}

func newPattern(s string) *pattern {
	p := &pattern{text: s, row: make([]uint64, (len(s)+63)/64)}
	for i := range len(s) {
		c := s[i]
		if p.at[c] == nil {
			p.at[c] = make([]uint64, len(p.row))
		}
		p.at[c][i/64] |= 1 << (i % 64)
		p.count[c]++
	}
	return p
}

// similarity is gettext's measure of two strings (fstrcmp): the bytes of their longest
// common subsequence by their average length. Below least it may return 0.
func (p *pattern) similarity(s string, least float64) float64 {
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
func (p *pattern) common(s string) int {
	row := p.row
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
	n := 0
	for j, v := range row {
		zeros := ^v
		if rest := len(p.text) - 64*j; rest < 64 {
			zeros &= 1<<rest - 1
		}
		n += bits.OnesCount64(zeros)
	}
	return n
}
