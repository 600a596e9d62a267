package poparse

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

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
// from i on, or len(s). It looks at eight bytes at a time: strings of PO files are
// short, so one such pass is faster than several calls of IndexByte.
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
	for i < len(s) && s[i] > ' ' && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

func isHigh(c byte) bool { return c >= utf8.RuneSelf }

// firstHigh returns the index of the first byte above 0x7F, or -1.
func firstHigh(s []byte) int { return slices.IndexFunc(s, isHigh) }

// countHigh returns the number of bytes above 0x7F.
func countHigh(s []byte) (n int) {
	for ; len(s) >= 8; s = s[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(s) & highBits)
	}
	for _, c := range s {
		n += int(c >> 7)
	}
	return n
}

// firstInvalid returns the index of the first byte that is not UTF-8, or -1.
func firstInvalid(s []byte) int {
	if utf8.Valid(s) {
		return -1
	}
	for i := 0; ; {
		r, n := utf8.DecodeRune(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
}
