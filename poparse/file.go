package poparse

import (
	"iter"
	"strings"
	"unicode/utf8"
)

// A File is a PO or POT file, read by Parse or made by hand to be written. Its
// methods do not change it, so any number of goroutines may use it at once.
type File struct {
	// Name is the name given to Parse.
	Name string
	// Charset is the charset as the header spells it, "" if it names none. The
	// strings of the File are UTF-8 whatever it says.
	Charset string
	// Domain is the domain whose entries a catalog takes (docs/po.md#domains): ""
	// if there is no domain directive or there are entries before the first
	// one, else the name in the first directive.
	Domain string
	// Header is the entry with an empty msgid and no msgctxt: the first one of
	// Domain, else the first one of the file, nil without one.
	Header *Entry
	// OtherHeaders are the headers of other domains and the repeated headers.
	OtherHeaders []*Entry
	// Entries are all entries except headers, in file order. They include
	// obsolete entries, duplicates, and the entries of all domains.
	Entries []*Entry
	// Warnings are in file order, at most about a thousand.
	Warnings []Warning

	// source is what Parse read, nil for a File made by hand.
	source *source
}

// Live yields the entries that a catalog takes, in file order: the entries of
// Domain that are neither obsolete nor duplicates.
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
// surrounding blanks. Case does not matter. It returns "" without a header or such
// a field. If a field is repeated, the first one counts.
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

// charsetOf returns the name after "charset=" in a header's text, "" without one.
func charsetOf(header string) string {
	from, to := charsetIn(header, strings.IndexByte)
	return header[from:to]
}

// charsetIn returns where the name after "charset=" is in a header's text, or 0 and
// 0. Like gettext (po-charset.c) it searches the whole header, but without regard to
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
