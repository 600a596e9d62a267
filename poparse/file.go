package poparse

import (
	"iter"
	"strings"
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
	OtherHeaders []Entry
	// Entries are all entries but headers in file order, obsolete and
	// duplicate ones and those of all domains included.
	Entries []Entry
	// Warnings are in file order, at most about a thousand.
	Warnings []Warning

	// source is what Parse read, nil for a File made by hand.
	source *source
}

// Live yields the entries that a catalog takes, in file order: those of Domain
// that are neither obsolete nor duplicates.
func (f *File) Live() iter.Seq[*Entry] {
	return func(yield func(*Entry) bool) {
		for i := range f.Entries {
			e := &f.Entries[i]
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
	for header != "" {
		line, rest, _ := strings.Cut(header, "\n")
		header = rest
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// charsetOf returns what follows "charset=" in a header's text, and its index
// there; "" and -1 if it says nothing. gettext looks for it anywhere in the
// header, too (po-charset.c), though with case.
func charsetOf(header string) (string, int) {
	const key = "charset"
	for i := 0; ; i++ {
		n := strings.IndexByte(header[i:], '=')
		if n < 0 {
			break
		}
		i += n
		if i < len(key) || !strings.EqualFold(header[i-len(key):i], key) {
			continue
		}
		value := header[i+1:]
		if end := strings.IndexAny(value, " \t\r\n\f\v\"\\;"); end >= 0 {
			value = value[:end]
		}
		return value, i + 1
	}
	return "", -1
}
