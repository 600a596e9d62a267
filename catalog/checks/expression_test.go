package checks

import (
	resyntax "regexp/syntax"
	"testing"
)

// TestSizeOf compares the estimate with the number of compiled instructions.
func TestSizeOf(t *testing.T) {
	for _, text := range []string{
		"abc", ".*", "^a|b|cd$", "(a)(b|c)+", ".{1,500}", "[a-z]{3,}", "(?:ab?c*){7}", `(?i)straße\p{Greek}\d`, "((a{9}){9}){9}", "(?:a|bc|def){100}", "a{0,4}b{0}", "",
	} {
		parsed, err := resyntax.Parse(text, resyntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		got := sizeOf(parsed)
		program, err := resyntax.Compile(parsed.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if n := len(program.Inst); got < n/2-2 || got > n*2 {
			t.Errorf("%s: size %d, has %d instructions", text, got, n)
		}
	}
}
