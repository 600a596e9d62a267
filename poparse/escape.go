package poparse

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// unescaper writes strings without their escapes: the escapes of C, except
// universal character names (gettext manual, section "The Format of PO Files").
type unescaper struct {
	p               *parser
	out             []byte
	line, lineStart int  // position of the string being written
	raw             bool // an escape has written a byte above 0x7F unchanged
}

// segment writes the string whose first character is at an index of the text and
// returns its length in the text.
func (u *unescaper) segment(start int) int {
	text := u.p.text
	for i, run := start, start; ; {
		i = stringEnd(text, i)
		u.out = append(u.out, text[run:i]...)
		if text[i] == '"' {
			return i - start
		}
		i += u.escape(i)
		run = i
	}
}

// escape writes the character of the escape at an index of the text and returns the
// length of the escape.
func (u *unescaper) escape(at int) int {
	c := u.p.text[at+1]
	switch letter := letterEscape[c]; {
	case c == '"' && u.p.guardsQuote(at):
		return u.leaveOut(at)
	case letter != 0:
		c = letter
	default:
		if n, _ := number(u.p.text[at:]); n > 0 {
			return u.numbers(at)
		}
		if u.p.guard(at) {
			return u.leaveOut(at)
		}
		_, n := utf8.DecodeRuneInString(u.p.text[at+1:])
		u.p.fail(ErrEscape, at, "unknown escape \\%s: write \\\\ for a backslash", clip(u.p.text[at+1:at+1+n]))
		if r := u.p.recovery; r != nil {
			r.report() // reading continues within the entry
		}
		return 1
	}
	u.out = append(u.out, c)
	return 2
}

// number returns the length and the byte of the octal or hexadecimal escape at the
// start of s, 0 without one. An octal escape has up to three digits. A hexadecimal
// escape has any number of digits; as in gettext, the last two count.
func number(s string) (n int, b byte) {
	if len(s) < 2 || s[0] != '\\' {
		return 0, 0
	}
	n = 1
	if s[1] == 'x' {
		for n = 2; n < len(s); n++ {
			digit, ok := hexDigit(s[n])
			if !ok {
				break
			}
			b = b<<4 | digit
		}
		if n == 2 {
			return 0, 0
		}
		return n, b
	}
	for n < len(s) && n < 4 && '0' <= s[n] && s[n] <= '7' {
		b = b<<3 | (s[n] - '0')
		n++
	}
	if n == 1 {
		return 0, 0
	}
	return n, b
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}

// numbers writes the bytes of consecutive octal and hexadecimal escapes and returns
// their length in the text. Bytes above 0x7F are in the charset of the file, and
// several may make one character.
func (u *unescaper) numbers(at int) int {
	p := u.p
	p.scratch = p.scratch[:0]
	raw := p.enc.enc == nil || p.enc.utf16() // the bytes are UTF-8
	length, high := 0, false
	for {
		n, b := number(p.text[at+length:])
		if n == 0 {
			break
		}
		length += n
		high = high || b >= utf8.RuneSelf
		if b == 0 {
			p.warn(u.line, u.column(at), WarnNUL, "NUL in a string: read as U+FFFD")
			p.scratch = append(p.scratch, "\uFFFD"...)
		} else {
			p.scratch = append(p.scratch, b)
		}
		if len(p.scratch) >= 1024 && (!high || raw) {
			u.raw = u.raw || high
			u.out = append(u.out, p.scratch...)
			p.scratch = p.scratch[:0]
		}
	}
	if !high || raw {
		u.raw = u.raw || high
		u.out = append(u.out, p.scratch...)
		return length
	}
	text, err := decodeTable(p.scratch, p.enc.enc, p.enc.charset)
	if err != nil {
		p.warn(u.line, u.column(at), WarnEscape, "these escapes are not valid %s: read as U+FFFD", clip(p.enc.charset))
		text = "\uFFFD"
	}
	u.out = append(u.out, text...)
	return length
}

func (u *unescaper) column(at int) int {
	return 1 + utf8.RuneCountInString(u.p.text[u.lineStart:at])
}

// leaveOut skips the backslash at an index.
func (u *unescaper) leaveOut(at int) int {
	u.p.warn(u.line, u.column(at), WarnEscape, "a backslash that only guards the character before it: left out")
	return 1
}

// guard reports whether the backslash at an index follows a character whose last
// byte in the file's charset is 0x5C, a backslash. Programs that do not know CP932
// or Big5 need a second backslash there, and some programs write it: vim's sjiscorr
// does so for src/po/ja.sjis.po. It is called for backslashes that begin no escape.
func (p *parser) guard(at int) bool {
	if p.enc.enc == nil || p.enc.utf16() || p.text[at] != '\\' {
		return false
	}
	_, n := utf8.DecodeLastRuneInString(p.text[:at])
	before, err := p.enc.enc.NewEncoder().String(p.text[at-n : at])
	return err == nil && len(before) == 2 && before[1] == '\\'
}

// guardsQuote reports whether the quote after the backslash at an index closes the
// string: it does if it is the last on its line and the backslash is a guard.
func (p *parser) guardsQuote(at int) bool {
	if p.enc.enc == nil || p.text[at+1] != '"' {
		return false
	}
	rest := strings.TrimLeft(p.text[at+2:], blanks)
	return (rest == "" || rest[0] == '\n') && p.guard(at)
}

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

// firstHigh returns the index of the first byte above 0x7F, or -1.
func firstHigh(s []byte) int {
	return slices.IndexFunc(s, func(c byte) bool { return c >= utf8.RuneSelf })
}

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
