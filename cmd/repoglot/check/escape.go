package check

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable returns s with everything escaped that does not print: control
// characters and the escape sequences that begin with them, line ends, marks
// that change the direction of text, and bytes that are not UTF-8. So neither a
// file's name nor its text can steer a terminal, or make a line of its own in
// the output.
func Printable(s string) string {
	clean := true
	for _, r := range s {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	var b strings.Builder
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[size:]
	}
	return b.String()
}

// printableName is Printable for a name at the start of a line: there, GitHub's
// runner takes what begins with two colons for a command.
func printableName(s string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "::") {
		s = "./" + s
	}
	return Printable(s)
}

// printableJSON escapes in encoded JSON what [Printable] escapes in text;
// outside of strings it is all ASCII.
func printableJSON(b []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r >= utf8.RuneSelf && !strconv.IsPrint(r) || r == 0x7F {
			out = append(out, b[done:i]...)
			if r > 0xFFFF {
				r -= 0x10000
				out = fmt.Appendf(out, `\u%04x\u%04x`, 0xD800+r>>10, 0xDC00+r&0x3FF)
			} else {
				out = fmt.Appendf(out, `\u%04x`, r)
			}
			done = i + size
		}
		i += size
	}
	if done == 0 {
		return b
	}
	return append(out, b[done:]...)
}
