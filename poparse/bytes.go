package poparse

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// The functions of this file look at eight bytes at a time. Strings of PO files
// are short, so one such pass is faster than several calls of IndexByte.

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// load8 returns the first eight bytes of s, the first one lowest.
func load8(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// stringEnd returns the index of the first quote, backslash or line feed in s
// from i on, or len(s).
func stringEnd(s string, i int) int {
	rest := s[i:]
	for len(rest) >= 8 {
		x := load8(rest)
		q, b, n := x^'"'*lowBits, x^'\\'*lowBits, x^'\n'*lowBits
		// The lowest bit set marks the first zero byte of the three.
		if m := ((q-lowBits)&^q | (b-lowBits)&^b | (n-lowBits)&^n) & highBits; m != 0 {
			return len(s) - len(rest) + bits.TrailingZeros64(m)>>3
		}
		rest = rest[8:]
	}
	for k := range len(rest) {
		if c := rest[k]; c == '"' || c == '\\' || c == '\n' {
			return len(s) - len(rest) + k
		}
	}
	return len(s)
}

// wordEnd returns the index of the first byte in s from i on that is a blank, a
// control character or above 0x7F, or len(s).
func wordEnd(s string, i int) int {
	rest := s[i:]
	for len(rest) >= 8 {
		x := load8(rest)
		if m := ((x - '!'*lowBits) | x) & highBits; m != 0 {
			return len(s) - len(rest) + bits.TrailingZeros64(m)>>3
		}
		rest = rest[8:]
	}
	for k := range len(rest) {
		if c := rest[k]; c <= ' ' || c >= utf8.RuneSelf {
			return len(s) - len(rest) + k
		}
	}
	return len(s)
}

// asciiLen returns the number of bytes at the start of s that are below 0x80. At
// the end of s the result may be up to seven too small.
func asciiLen(s []byte) int {
	rest := s
	for len(rest) >= 32 {
		w := rest[:32]
		a, b := binary.LittleEndian.Uint64(w), binary.LittleEndian.Uint64(w[8:])
		c, d := binary.LittleEndian.Uint64(w[16:]), binary.LittleEndian.Uint64(w[24:])
		if (a|b|c|d)&highBits != 0 {
			break
		}
		rest = rest[32:]
	}
	for len(rest) >= 8 {
		if m := binary.LittleEndian.Uint64(rest) & highBits; m != 0 {
			return len(s) - len(rest) + bits.TrailingZeros64(m)>>3
		}
		rest = rest[8:]
	}
	return len(s) - len(rest)
}

// firstHigh returns the index of the first byte above 0x7F, or -1.
func firstHigh(s []byte) int {
	for i := asciiLen(s); i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return i
		}
	}
	return -1
}

// countHigh returns the number of bytes above 0x7F.
func countHigh(s []byte) int {
	n := 0
	for ; len(s) >= 8; s = s[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(s) & highBits)
	}
	for _, c := range s {
		n += int(c >> 7)
	}
	return n
}

// countControls returns the number of bytes below 0x20.
func countControls(s []byte) int {
	n := 0
	for ; len(s) >= 8; s = s[8:] {
		x := binary.LittleEndian.Uint64(s)
		n += bits.OnesCount64(^((x | highBits) - 0x20*lowBits) &^ x & highBits)
	}
	for _, c := range s {
		if c < 0x20 {
			n++
		}
	}
	return n
}

// firstInvalid returns the index of the first byte that is not UTF-8, or -1. Unlike
// utf8.Valid it is fast after the first character above 0x7F, too.
func firstInvalid(s []byte) int {
	for i := 0; i < len(s); {
		// Runs of ASCII are short in most languages.
		if rest := s[i:]; len(rest) >= 8 {
			if m := binary.LittleEndian.Uint64(rest) & highBits; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
			} else {
				i += 8
				if len(rest) >= 24 && binary.LittleEndian.Uint64(rest[8:])&highBits == 0 {
					i += 8 + asciiLen(rest[16:])
				}
				continue
			}
		}
		// Most characters have two or three bytes and are followed by others.
		for i < len(s) {
			rest := s[i:]
			c := rest[0]
			switch {
			case c < utf8.RuneSelf:
				i++
			case 0xC2 <= c && c <= 0xDF && len(rest) >= 2 && isTrail(rest[1]):
				i += 2
			case 0xE0 <= c && c <= 0xEF && len(rest) >= 3 && isTrail(rest[1]) && isTrail(rest[2]) &&
				(c != 0xE0 || rest[1] >= 0xA0) && (c != 0xED || rest[1] < 0xA0):
				i += 3
			default:
				r, n := utf8.DecodeRune(rest)
				if r == utf8.RuneError && n == 1 {
					return i
				}
				i += n
			}
			if c < utf8.RuneSelf || i < len(s) && s[i] < utf8.RuneSelf {
				break
			}
		}
	}
	return -1
}

func isTrail(c byte) bool { return c&0xC0 == 0x80 }
