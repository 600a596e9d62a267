package linebreak

// breakAction says where a line may end between two characters.
type breakAction uint8

const (
	breakDirect  breakAction = iota // with or without spaces between them
	breakAtSpace                    // only at spaces between them
	breakNever
)

// pairBreak returns where a line may end between two characters that follow
// each other, spaces aside. The comments name the rules of UAX #14.
func pairBreak(before, after class) breakAction {
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

// joined reports whether a line may end between two characters only at spaces.
func joined(before, after class) bool {
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
func joinedJamo(before, after class) bool {
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

func isIdeographic(c class) bool {
	switch c {
	case lbID, lbEB, lbEM, lbH2, lbH3, lbJL, lbJV, lbJT:
		return true
	}
	return false
}
