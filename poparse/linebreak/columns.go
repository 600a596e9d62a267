package linebreak

import (
	"unicode"

	"golang.org/x/text/width"
)

// columns returns the number of columns that a character takes in a terminal.
// For control characters that is 0, as in libunistring's uc_width.
func columns(r rune, eastAsian bool) int {
	switch {
	case r < 0x20 || 0x7F <= r && r < 0xA0:
		return 0
	case r < 0x80:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || 0x1160 <= r && r <= 0x11FF || 0xD7B0 <= r && r <= 0xD7FF:
		return 0
	case 0x2E80 <= r && r <= 0xA4CF && r != 0x303F && (r < 0x4DC0 || r > 0x4DFF) || 0xFE10 <= r && r <= 0xFE6F:
		return 2 // blocks that are wide as a whole, unassigned characters included
	case eastAsian && r >= 0xA1 && r < 0xFF61 && r != 0x20A9:
		return 2
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}
