package poparse

import (
	"strconv"
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
// reads the whole text once. In a file that was made by hand, or read by a
// [Reader], it finds lines only.
func (f *File) Locator() *Locator {
	l := &Locator{}
	if f.source == nil {
		return l
	}
	l.text, l.lines = f.source.text, []int{0}
	for line := range strings.Lines(l.text) {
		if strings.HasSuffix(line, "\n") {
			l.lines = append(l.lines, l.lines[len(l.lines)-1]+len(line))
		}
	}
	return l
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
	w := walker{parser{
		text:     l.text[:min(len(l.text), begin+maxReach)],
		position: position{pos: begin, line: line, lineStart: begin},
	}}
	if !w.find(part, form) {
		return line, 1
	}
	at := w.character(n)
	return w.line, 1 + utf8.RuneCountInString(l.text[l.lines[w.line-1]:at])
}

// walker moves over text that has no errors.
type walker struct{ parser }

// token moves to the next token, over comments, too, and returns its first byte, 0 at
// the end.
func (w *walker) token() byte {
	for w.skip(); w.pos < len(w.text); w.skip() {
		if c := w.text[w.pos]; c != '#' {
			return c
		}
		w.nextLine()
	}
	return 0
}

// find moves to the first quote of a part of the entry that begins at the first
// msgctxt or msgid. It returns false if the entry does not have the part.
func (w *walker) find(part Part, form int) bool {
	begun := false
	for c := w.token(); c != 0; c = w.token() {
		if c == '"' {
			w.character(-1)
			continue
		}
		word, index := w.word(), 0
		w.pos += max(1, len(word))
		switch word {
		case "msgctxt", "msgid":
			if begun && (word == "msgctxt" || part == PartContext) {
				return false // the next entry
			}
			begun = true
		case "msgstr":
			if w.token() == '[' {
				digits, _, _ := strings.Cut(w.text[w.pos+1:], "]")
				index, _ = strconv.Atoi(strings.TrimSpace(digits))
				w.pos += min(len(digits)+len("[]"), len(w.text)-w.pos)
			}
		}
		if begun && word == [...]string{PartContext: "msgctxt", PartID: "msgid", PartIDPlural: "msgid_plural", PartStr: "msgstr"}[part] && (part != PartStr || index == form) {
			return w.token() == '"'
		}
	}
	return false
}

// character moves over n characters of consecutive strings and returns the offset
// of the next one, or of the last quote. A negative n means all.
func (w *walker) character(n int) (at int) {
	for w.pos < len(w.text) && w.text[w.pos] == '"' {
		w.pos++
		for w.pos < len(w.text) && w.text[w.pos] != '"' && w.text[w.pos] != '\n' {
			if n == 0 {
				return w.pos
			}
			size, chars := w.one()
			if n > 0 {
				n = max(0, n-chars)
			}
			w.pos += size
		}
		at = w.pos
		w.pos = min(len(w.text), w.pos+1)
		before := w.position
		if w.token() != '"' && n >= 0 {
			w.position = before // the line of the last quote
			return at
		}
	}
	return at
}

// one returns the size of the next character, or of consecutive numeric escapes and
// the number of their characters.
func (w *walker) one() (size, chars int) {
	rest := w.text[w.pos:]
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
