package query

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// needle is a literal, in any case if fold is true.
type needle struct {
	text string
	fold bool
}

// needles are literals of which one at least is in every text that a regular
// expression matches; none: nothing is known.
type needles []needle

// maxNeedles bounds what is looked for before the expression itself is.
const maxNeedles = 16

// needlesOf finds the needles of a simplified tree.
func needlesOf(re *syntax.Regexp) needles {
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if text == "" || strings.ContainsRune(text, utf8.RuneError) { // which bytes that are no UTF-8 match, too
			return nil
		}
		return needles{{text, re.Flags&syntax.FoldCase != 0}}
	case syntax.OpCapture, syntax.OpPlus:
		return needlesOf(re.Sub[0])
	case syntax.OpConcat:
		var best needles
		for _, sub := range re.Sub {
			if n := needlesOf(sub); n.worth() > best.worth() {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all needles
		for _, sub := range re.Sub {
			n := needlesOf(sub)
			if len(n) == 0 || len(all)+len(n) > maxNeedles {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// worth is the length of the shortest needle: the longer, the fewer texts have it.
func (n needles) worth() int {
	if len(n) == 0 {
		return 0
	}
	least := len(n[0].text)
	for _, one := range n[1:] {
		least = min(least, len(one.text))
	}
	return least
}

// test reports whether a text has one of the needles; nil if none is known.
func (n needles) test(fold *Folder) func(string) bool {
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
		return len(folded) > 0 && fold.containsAny(s, folded)
	}
}
