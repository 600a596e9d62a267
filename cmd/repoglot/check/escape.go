package check

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable returns s with all characters escaped that do not print: control
// characters, line ends, marks that change the direction of text, and bytes that
// are not UTF-8. So neither the name of a file nor its text can control a terminal
// or begin a new line in the output. The commands that CI systems read anywhere in
// a line of a log ("##[…", "##vso[…", "##teamcity[…") are escaped in the same way.
func Printable(s string) string {
	if isPrintable(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '#' && beginsCommand(s, i):
			b.WriteString(`\x23`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			quoted := strconv.QuoteRune(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += size
	}
	return b.String()
}

func isPrintable(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || !strconv.IsPrint(r) {
			return false
		}
	}
	return !strings.Contains(s, "##")
}

// beginsCommand reports whether a # is the second one of a command of a CI system.
func beginsCommand[T string | []byte](s T, i int) bool {
	return i > 0 && s[i-1] == '#' && i+1 < len(s) && (s[i+1] == '[' || s[i+1]|0x20 >= 'a' && s[i+1]|0x20 <= 'z')
}

// printableName is Printable for a name at the start of a line, where GitHub's
// runner reads two colons as the beginning of a command.
func printableName(s string) string {
	if strings.HasPrefix(strings.TrimSpace(s), "::") {
		s = "./" + s
	}
	return Printable(s)
}

// printableJSON escapes in encoded JSON the characters that [Printable] escapes in
// text; outside of strings JSON is ASCII.
func printableJSON(b []byte) []byte {
	var out []byte
	done := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r >= utf8.RuneSelf && !strconv.IsPrint(r) || r == 0x7F || r == '#' && beginsCommand(b, i) {
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
