package poparse

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// A File is a PO or POT file as read, or one made by hand to be written. It is
// not changed by its methods, so any number of goroutines may use it at once.
type File struct {
	// Name is the name given to Parse.
	Name string
	// Charset is the charset as the header spells it, "" if it names none. The
	// strings of the File are UTF-8 whatever it says.
	Charset string
	// Domain is the domain whose entries a catalog takes (po-semantics.md): ""
	// if there is no domain directive or there are entries before the first
	// one, else the name in the first directive.
	Domain string
	// Header is the entry with an empty msgid and no msgctxt: the first one of
	// Domain, else the first of the file, nil if there is none.
	Header *Entry
	// OtherHeaders are the headers of other domains, and repeated ones.
	OtherHeaders []*Entry
	// Entries are all entries but headers in file order, obsolete and
	// duplicate ones and those of all domains included.
	Entries []*Entry
	// Warnings are in file order, at most about a thousand.
	Warnings []Warning

	// source is what Parse read, nil for a File made by hand.
	source *source
}

// Live yields the entries that a catalog takes, in file order: those of Domain
// that are neither obsolete nor duplicates.
func (f *File) Live() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for _, e := range f.Entries {
			if !e.Obsolete && !e.Duplicate && e.Domain == f.Domain && !yield(e) {
				return
			}
		}
	}
}

// Field returns the value of a header field, such as "Language", without
// surrounding blanks. Case does not matter. It returns "" if there is no header
// or no such field; of repeated fields the first counts.
func (f *File) Field(name string) string {
	if f.Header == nil || len(f.Header.Str) == 0 {
		return ""
	}
	return headerField(f.Header.Str[0], name)
}

func headerField(header, name string) string {
	ascii := name != "" && name[0] < utf8.RuneSelf
	for header != "" {
		line := header
		if nl := strings.IndexByte(header, '\n'); nl >= 0 {
			line, header = header[:nl], header[nl+1:]
		} else {
			header = ""
		}
		if line != "" && ascii && isLetter(line[0]) && line[0]|0x20 != name[0]|0x20 {
			continue // most lines
		}
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// charsetOf returns what follows "charset=" in a header's text, "" if it says
// nothing.
func charsetOf(header string) string {
	from, to := charsetIn(header, strings.IndexByte)
	return header[from:to]
}

// charsetIn returns where the name of the charset is in a header's text: behind
// "charset=", which is never at its start. Both are 0 if it says nothing.
// gettext looks for it anywhere in the header, too (po-charset.c), though with
// case.
func charsetIn[T string | []byte](header T, indexByte func(T, byte) int) (from, to int) {
	const key = "charset"
	for i := 0; ; i++ {
		n := indexByte(header[i:], '=')
		if n < 0 {
			break
		}
		i += n
		if i < len(key) || !strings.EqualFold(string(header[i-len(key):i]), key) {
			continue
		}
		for to = i + 1; to < len(header) && !endsCharset(header[to]); to++ {
		}
		return i + 1, to
	}
	return 0, 0
}

func endsCharset(c byte) bool {
	return isBlank(c) || c == '\n' || c == '"' || c == '\\' || c == ';'
}
