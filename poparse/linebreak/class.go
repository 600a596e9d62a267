package linebreak

import (
	"sort"
	"unicode"

	"golang.org/x/text/width"
)

//go:generate go run maketable.go

// class is a value of the Unicode property Line_Break, by its short name. The
// classes that are treated as another one (CJ, LF, SA …) are not listed.
type class uint8

const (
	lbAL class = iota // letters and all characters that are not in classRanges
	lbAI              // ambiguous: ID in East Asian charsets, else AL
	lbB2
	lbBA
	lbBB
	lbBK
	lbCL
	lbCM
	lbCP
	lbEB
	lbEM
	lbEX
	lbGL
	lbH2
	lbH3
	lbHL
	lbHY
	lbID
	lbIN
	lbIS
	lbJL
	lbJT
	lbJV
	lbNS
	lbNU
	lbOP
	lbPO
	lbPR
	lbQU
	lbRI
	lbSP
	lbSY
	lbWJ
	lbZW
	lbZWJ
)

// classRange gives the characters from lo to hi their class.
type classRange struct {
	lo, hi rune
	class  class
}

func classOf(r rune, eastAsian bool) class {
	if 'a' <= r && r <= 'z' {
		return lbAL
	}
	if 0xAC00 <= r && r <= 0xD7A3 { // Hangul syllables
		if (r-0xAC00)%28 == 0 {
			return lbH2
		}
		return lbH3
	}
	i := sort.Search(len(classRanges), func(i int) bool { return classRanges[i].hi >= r })
	if i == len(classRanges) || r < classRanges[i].lo {
		return lbAL
	}
	switch c := classRanges[i].class; {
	case c != lbAI:
		return c
	case eastAsian:
		return lbID
	default:
		return lbAL
	}
}

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
