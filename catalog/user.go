package catalog

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxUsername bounds a username in characters, before a suffix.
const maxUsername = 60

// Username returns the API name for the name of a git author: letters and digits of
// any script in lower case, Latin letters without accents, "-" for every other run of
// characters; "author" if nothing is left. The caller adds a suffix if two authors
// have the same one (docs/compatibility.md#users).
func Username(name string) string {
	var b strings.Builder
	n, dash := 0, false
	for _, r := range norm.NFKD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if dash && n > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(unicode.ToLower(r))
			n++
		default:
			dash = true
		}
		if n >= maxUsername {
			break
		}
	}
	if n == 0 {
		return "author"
	}
	return norm.NFC.String(b.String())
}
