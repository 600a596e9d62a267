package poparse

import (
	"strings"
	"unicode/utf8"
)

// A Part names one of the strings of an entry.
type Part uint8

// The strings of an entry (gettext manual, section "The Format of PO Files").
const (
	// PartContext is the msgctxt.
	PartContext Part = iota
	// PartID is the msgid.
	PartID
	// PartIDPlural is the msgid_plural.
	PartIDPlural
	// PartStr is the msgstr, or with a form the msgstr of that index.
	PartStr
)

// A Locator finds the position in a file of a character of a string. It belongs to
// one goroutine.
type Locator struct {
	text  string
	lines []int // the offset of each line
}

// maxReach bounds the bytes of an entry that a Locator searches: many findings in a
// huge entry must not cost quadratic time.
const maxReach = 1 << 20

// Locator returns a Locator for the file as it was read, without later changes. It
// reads the whole text once. In a file that was made by hand, or read by
// [ParseShared], it finds lines only.
func (f *File) Locator() *Locator {
	l := &Locator{}
	if f.source == nil {
		return l
	}
	l.text, l.lines = f.source.text, []int{0}
	for at := 0; ; {
		n := strings.IndexByte(l.text[at:], '\n')
		if n < 0 {
			return l
		}
		at += n + 1
		l.lines = append(l.lines, at)
	}
}

// Locate returns the 1-based line and column, in characters, of character n of a
// part of e, counted from 0 in the unescaped string. form is the index of a plural
// msgstr, 0 for other parts. For n at or after the end of the string it returns the
// position of the last quote. If several entries are on one line, it looks at the
// first of them. For a missing part, or one more than a megabyte after the start of
// the entry, it returns column 1 of the KeywordLine.
func (l *Locator) Locate(e *Entry, part Part, form, n int) (line, column int) {
	line = max(e.KeywordLine, 1)
	if line > len(l.lines) {
		return line, 1
	}
	begin := l.lines[line-1]
	near := &Locator{text: l.text[:min(len(l.text), begin+maxReach)], lines: l.lines}
	w := walker{Locator: near, at: begin, line: line}
	if !w.find(part, form) {
		return line, 1
	}
	at := w.character(n)
	return w.line, 1 + utf8.RuneCountInString(l.text[l.lines[w.line-1]:at])
}

// walker is a position in text that has no errors.
type walker struct {
	*Locator
	at, line int
}

// skip moves to the next token, over comments, too.
func (w *walker) skip() {
	for ; w.at < len(w.text); w.at++ {
		switch c := w.text[w.at]; {
		case c == '\n':
			w.line++
		case c == '#':
			if n := prefixLen(w.text[w.at:]); n > 0 {
				w.at += n - 1
				continue
			}
			n := strings.IndexByte(w.text[w.at:], '\n')
			if n < 0 {
				w.at = len(w.text)
				return
			}
			w.at += n - 1
		case c > ' ':
			return
		}
	}
}

// find moves to the first quote of a part of the entry that begins at the first
// msgctxt or msgid. It returns false if the entry does not have the part.
func (w *walker) find(part Part, form int) bool {
	begun := false
	for index := 0; ; {
		w.skip()
		if w.at == len(w.text) {
			return false
		}
		if w.text[w.at] == '"' {
			w.strings()
			continue
		}
		word := w.word()
		switch {
		case word == "msgctxt" || word == "msgid":
			if begun && (word == "msgctxt" || part == PartContext) {
				return false // the next entry
			}
			begun = true
		case word == "msgstr":
			index = w.index()
		}
		w.skip()
		if begun && word == keywordOf(part) && (part != PartStr || index == form) {
			return w.at < len(w.text) && w.text[w.at] == '"'
		}
	}
}

func keywordOf(part Part) string {
	return [...]string{PartContext: "msgctxt", PartID: "msgid", PartIDPlural: "msgid_plural", PartStr: "msgstr"}[part]
}

// word moves over a keyword, or over one other character.
func (w *walker) word() string {
	from := w.at
	for w.at < len(w.text) && isLetter(w.text[w.at]) {
		w.at++
	}
	if w.at == from {
		w.at++
	}
	return w.text[from:w.at]
}

// index moves over the index of a msgstr and returns it, 0 without one.
func (w *walker) index() (n int) {
	if w.skip(); w.at == len(w.text) || w.text[w.at] != '[' {
		return 0
	}
	for w.at++; w.at < len(w.text) && w.text[w.at] != ']'; w.at++ {
		if c := w.text[w.at]; isDigit(c) && n < 1<<16 {
			n = n*10 + int(c-'0')
		}
	}
	w.at++
	return n
}

// strings moves over consecutive strings.
func (w *walker) strings() { w.character(-1) }

// character moves over n characters of consecutive strings and returns the offset
// of the next one, or of the last quote. A negative n means all.
func (w *walker) character(n int) (at int) {
	for w.at < len(w.text) && w.text[w.at] == '"' {
		w.at++
		for w.at < len(w.text) && w.text[w.at] != '"' && w.text[w.at] != '\n' {
			if n == 0 {
				return w.at
			}
			size, chars := w.one()
			if n > 0 {
				n = max(0, n-chars)
			}
			w.at += size
		}
		at = w.at
		w.at = min(len(w.text), w.at+1)
		before := *w
		if w.skip(); w.at == len(w.text) || w.text[w.at] != '"' {
			if n >= 0 {
				*w = before // the line of the last quote
			}
			return at
		}
	}
	return at
}

// one returns the size of the next character, or of consecutive numeric escapes and
// the number of their characters.
func (w *walker) one() (size, chars int) {
	rest := w.text[w.at:]
	if rest[0] != '\\' {
		_, size = utf8.DecodeRuneInString(rest)
		return size, 1
	}
	var raw []byte
	for {
		n, b := number(rest[size:])
		if n == 0 {
			break
		}
		size += n
		raw = append(raw, b)
	}
	if size > 0 {
		return size, utf8.RuneCount(raw)
	}
	_, n := utf8.DecodeRuneInString(rest[1:])
	return 1 + n, 1
}
