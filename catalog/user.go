package catalog

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxUsername bounds a username in characters, before a suffix.
const maxUsername = 60

// Username makes the API name of a git author out of the author's name
// (decision 25): letters and digits of any script in lower case, accents of
// Latin letters dropped, every other run a "-". It is "author" if nothing is
// left. The caller adds a suffix where two authors collide.
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
