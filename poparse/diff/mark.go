package diff

import "unicode"

// Span is a part of two texts: "" of both, "del" of the old one, "ins" of the new one.
type Span struct{ Kind, Text string }

// maxWords bounds the words of each of two texts that are compared word by word, after what is equal at
// both ends.
const maxWords = 600

// Mark compares two texts word by word. A text of more than maxWords is replaced as a whole.
func Mark(old, new string) []Span {
	var out []Span
	add := func(kind string, words ...string) {
		for _, text := range words {
			if n := len(out); n > 0 && out[n-1].Kind == kind {
				out[n-1].Text += text
			} else {
				out = append(out, Span{kind, text})
			}
		}
	}
	a, b := words(old), words(new)
	var end []string
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		add("", a[0])
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b, end = a[:len(a)-1], b[:len(b)-1], a[len(a)-1:len(a)+len(end)]
	}
	if len(a) > maxWords || len(b) > maxWords {
		add("del", a...)
		add("ins", b...)
		a, b = nil, nil
	}
	common := make([][]uint16, len(a)+1) // lengths of the longest common sequences of the ends
	common[len(a)] = make([]uint16, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		common[i] = make([]uint16, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			add("", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			add("del", a[i])
			i++
		default:
			add("ins", b[j])
			j++
		}
	}
	add("", end...)
	return out
}

// words splits a text into words, blanks and single other characters, so that a
// language without blanks is compared character by character.
func words(s string) (list []string) {
	kind := func(r rune) int {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai):
			return 0
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 0
	}
	start, last := 0, -1
	for i, r := range s {
		k := kind(r)
		if i > 0 && (k == 0 || k != last) {
			list = append(list, s[start:i])
			start = i
		}
		last = k
	}
	if start < len(s) {
		list = append(list, s[start:])
	}
	return list
}
