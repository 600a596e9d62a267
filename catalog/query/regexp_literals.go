package query

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

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
		return len(folded) > 0 && fold.containsAny(s, folded)
	}
}
