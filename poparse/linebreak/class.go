package linebreak

import "sort"

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
