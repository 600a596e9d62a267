package web

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/repoglot/repoglot/api/page"
	"github.com/repoglot/repoglot/api/wire"
	"github.com/repoglot/repoglot/catalog"
)

func path(segments ...string) string { return wire.Path(segments...) }

// visible makes a text fit to be shown: cut, and with what is hidden in it.
func visible(s string) string {
	if utf8.RuneCountInString(s) > maxShown {
		s = string([]rune(s)[:maxShown]) + "…"
	}
	return page.Visible(s)
}

// span is a part of a text: "" as it is, "ins" added, "del" removed, "mark" where a
// check fails.
type span struct{ Kind, Text string }

// difference compares two texts word by word.
func difference(old, new string) []span {
	if strings.ReplaceAll(old, catalog.FormSeparator, "") == "" {
		old = "" // plural forms without a text
	}
	old, new = visible(forms(old)), visible(forms(new))
	switch {
	case old == new:
		return []span{{"", new}}
	case old == "":
		return []span{{"ins", new}}
	case new == "":
		return []span{{"del", old}}
	}
	a, b := words(old), words(new)
	if len(a) > maxWords || len(b) > maxWords {
		return []span{{"del", old}, {"ins", new}}
	}
	var out []span
	add := func(kind, text string) {
		if n := len(out); n > 0 && out[n-1].Kind == kind {
			out[n-1].Text += text
			return
		}
		out = append(out, span{kind, text})
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
	i, j := 0, 0
	for i < len(a) || j < len(b) {
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

func forms(s string) string { return strings.ReplaceAll(s, catalog.FormSeparator, "\n") }

// place is a part of a text, in code points.
type place struct{ from, to int }

// marked splits a text at the places where checks fail. An empty place marks the
// character before it.
func marked(s string, places []place) []span {
	if len(places) == 0 {
		return []span{{"", visible(s)}}
	}
	runes := []rune(s)
	on := make([]bool, len(runes))
	for _, p := range places {
		if p.to <= p.from {
			p.from, p.to = p.from-1, p.from
		}
		for i := max(0, p.from); i < min(p.to, len(runes)); i++ {
			on[i] = true
		}
	}
	if len(runes) > maxShown || !slices.Contains(on, true) {
		return []span{{"", visible(s)}}
	}
	var out []span
	for i, j := 0, 0; i < len(runes); i = j {
		for j < len(runes) && on[j] == on[i] {
			j++
		}
		text := span{"", visible(string(runes[i:j]))}
		if on[i] {
			text.Kind = "mark"
			text.Text = strings.ReplaceAll(text.Text, " ", "␣")
		}
		out = append(out, text)
	}
	return out
}
