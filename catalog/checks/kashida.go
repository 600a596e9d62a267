package checks

import (
	"unicode/utf8"
)

func kashida(_ *run, _, t string) hit {
	previous := rune(0)
	for i, c := range t {
		if c >= 0x640 && isKashida(c) && previous != 0x628 && previous != 0x643 && previous != 0x644 {
			return hit{failed: true, target: Span{i, i + utf8.RuneLen(c)}}
		}
		previous = c
	}
	return hit{}
}

func isKashida(c rune) bool {
	switch c {
	case 0x640, 0xfcf2, 0xfcf3, 0xfcf4, 0xfe71, 0xfe77, 0xfe79, 0xfe7b, 0xfe7d, 0xfe7f:
		return true
	}
	return false
}
