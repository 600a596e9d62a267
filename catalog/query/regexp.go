package query

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// compileRegexp returns the test of a regular expression, which matches anywhere
// in the text and respects case, as in PostgreSQL. It first looks for literals
// that every match contains, which is 20 times as fast.
func compileRegexp(pattern string, fold *Folder) (func(string) bool, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, fmt.Errorf("compile %q: %w", pattern, err)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("compile %q: %w", pattern, err)
	}
	found := literalsOf(tree.Simplify()).test(fold)
	if found == nil {
		return re.MatchString, nil
	}
	return func(s string) bool { return found(s) && re.MatchString(s) }, nil
}

// regexpSize is the number of instructions of a regular expression. It is
// estimated before compilation, since repetitions multiply.
func regexpSize(pattern string) (int, error) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, err
	}
	if n := weight(tree); n > MaxRegexp {
		return n, nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	return len(prog.Inst), nil
}

// weight estimates the instructions of a tree without building them.
func weight(re *syntax.Regexp) int {
	n := 1
	for _, sub := range re.Sub {
		n = min(n+weight(sub), 1<<20)
	}
	switch re.Op {
	case syntax.OpLiteral:
		n += len(re.Rune)
	case syntax.OpRepeat:
		n *= max(re.Min, re.Max, 1)
	}
	return min(n, 1<<20)
}
