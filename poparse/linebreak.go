package poparse

import "sort"

// lineBreakClass is a class of Unicode Standard Annex #14, "Unicode Line
// Breaking Algorithm".
type lineBreakClass uint8

const (
	lbAL lineBreakClass = iota // letters and whatever is not listed
	lbAI                       // ambiguous: AL, in Asian charsets ID
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

type lineBreakRange struct {
	lo, hi rune
	class  lineBreakClass
}

func lineBreakClassOf(r rune) lineBreakClass {
	if 'a' <= r && r <= 'z' {
		return lbAL
	}
	if 0xAC00 <= r && r <= 0xD7A3 {
		if (r-0xAC00)%28 == 0 {
			return lbH2
		}
		return lbH3
	}
	i := sort.Search(len(lineBreakRanges), func(i int) bool { return lineBreakRanges[i].hi >= r })
	if i < len(lineBreakRanges) && lineBreakRanges[i].lo <= r {
		return lineBreakRanges[i].class
	}
	return lbAL
}

// lineBreaks sets breaks[i] for each rune before which a line may end, by
// UAX #14 as libunistring 1.0 implements it, which gettext 0.21 uses: no break
// before or behind IS and CP as in later editions, HL and RI as in these.
// asian says that the charset is an East Asian one of old.
func lineBreaks(text []rune, asian bool, breaks []bool) {
	before := lbBK                // class of the last character but spaces
	last := lbBK                  // class of the last character
	space, hyphen := false, false // a space since; a hyphen behind a Hebrew letter
	flags := 0                    // regional indicators in a row
	for i, r := range text {
		class := lineBreakClassOf(r)
		if class == lbAI {
			class = lbAL
			if asian {
				class = lbID
			}
		}
		breaks[i] = false
		switch class {
		case lbBK:
			before, space = lbBK, false
		case lbSP:
			space = true
		case lbZW:
			before, space = lbZW, false
		case lbCM, lbZWJ:
			switch {
			case before == lbBK:
				before, space = lbAL, false
			case before == lbZW || space:
				breaks[i] = true
				before, space = lbAL, false
			}
		default:
			switch {
			case before == lbBK, last == lbZWJ, hyphen:
			case before == lbZW:
				breaks[i] = true
			case before == lbRI && class == lbRI:
				breaks[i] = space || flags%2 == 0
			case class == lbOP && (before == lbAL || before == lbHL || before == lbNU) && (columns(r, false) == 2 || r == 0xFF62):
				breaks[i] = true // LB30 is not about wide ones
			default:
				how := pairBreak(before, class)
				breaks[i] = how == breakDirect || how == breakAtSpace && space
			}
			before, space = class, false
		}
		hyphen = last == lbHL && (class == lbHY || class == lbBA)
		last = class
		if flags++; class != lbRI {
			flags = 0
		}
	}
}

type breakAction uint8

const (
	breakDirect  breakAction = iota // a line may end between the two
	breakAtSpace                    // only at spaces between them
	breakNever
)

// pairBreak tells how two characters that follow each other, apart from spaces,
// may be separated. The comments name the rules of UAX #14.
func pairBreak(before, after lineBreakClass) breakAction {
	switch after {
	case lbWJ, lbCL, lbCP, lbEX, lbIS, lbSY: // LB11, LB13
		return breakNever
	case lbOP:
		if before == lbQU { // LB15
			return breakNever
		}
	case lbNS:
		if before == lbCL { // LB16
			return breakNever
		}
	case lbB2:
		if before == lbB2 { // LB17
			return breakNever
		}
	}
	if before == lbOP { // LB14
		return breakNever
	}
	if joined(before, after) {
		return breakAtSpace
	}
	return breakDirect
}

func joined(before, after lineBreakClass) bool {
	switch before {
	case lbWJ, lbGL, lbBB, lbQU: // LB11, LB12, LB21, LB19
		return true
	}
	switch after {
	case lbQU, lbBA, lbHY, lbNS, lbIN: // LB19, LB21, LB22
		return true
	case lbGL: // LB12a
		return before != lbBA && before != lbHY
	case lbNU: // LB23, LB25, LB30
		switch before {
		case lbHY, lbCP, lbIS, lbNU, lbPO, lbPR, lbSY, lbAL, lbHL:
			return true
		}
	case lbAL, lbHL: // LB23, LB24, LB28, LB30
		switch before {
		case lbCP, lbNU, lbPO, lbPR, lbAL, lbHL:
			return true
		case lbSY: // LB21b
			return after == lbHL
		}
	case lbPO: // LB23a, LB24, LB25, LB27
		switch before {
		case lbCL, lbCP, lbNU, lbAL, lbHL:
			return true
		}
		return isIdeographic(before)
	case lbPR: // LB24, LB25
		switch before {
		case lbCL, lbCP, lbNU, lbAL, lbHL:
			return true
		}
	case lbOP: // LB25, LB30
		switch before {
		case lbNU, lbPO, lbPR, lbAL, lbHL:
			return true
		}
	}
	if before == lbPR { // LB23a, LB27
		return isIdeographic(after)
	}
	return joinedJamo(before, after) || before == lbEB && after == lbEM // LB30b
}

// joinedJamo is LB26: Hangul syllables are not broken.
func joinedJamo(before, after lineBreakClass) bool {
	switch before {
	case lbJL:
		return after == lbJL || after == lbJV || after == lbH2 || after == lbH3
	case lbJV, lbH2:
		return after == lbJV || after == lbJT
	case lbJT, lbH3:
		return after == lbJT
	}
	return false
}

func isIdeographic(c lineBreakClass) bool {
	switch c {
	case lbID, lbEB, lbEM, lbH2, lbH3, lbJL, lbJV, lbJT:
		return true
	}
	return false
}
