package edit

import (
	"strings"

	"github.com/repoglot/repoglot/poparse"
)

// revise sets PO-Revision-Date and Last-Translator in a header that has them. Fields
// that it lacks are not added: the project does without them.
func (a *applier) revise(header *poparse.Entry, author Author) {
	if len(header.Str) == 0 {
		return
	}
	text, _ := setField(header.Str[0], "PO-Revision-Date", a.options.Revision.UTC().Format("2006-01-02 15:04-0700"))
	if author.Name != "" {
		text, _ = setField(text, "Last-Translator", author.inHeader())
	}
	header.Str = append([]string{text}, header.Str[1:]...)
}

// inHeader is an author as the fields of a header have one.
func (a Author) inHeader() string {
	who := headerText(a.Name)
	if a.Email != "" {
		who += " <" + headerText(a.Email) + ">"
	}
	return who
}

// setField replaces the value of a header's field, the first one of that name, if there is one.
func setField(header, name, value string) (set string, has bool) {
	lines := strings.SplitAfter(header, "\n")
	for i, line := range lines {
		key, _, ok := strings.Cut(line, ":")
		if !ok || !strings.EqualFold(strings.TrimSpace(key), name) {
			continue
		}
		lines[i] = key + ": " + value
		if strings.HasSuffix(line, "\n") {
			lines[i] += "\n"
		}
		return strings.Join(lines, ""), true
	}
	return header, false
}

// headerText makes a name one that ends neither its field nor its address.
func headerText(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r < ' ' || r == 0x7F || r == '\u2028' || r == '\u2029':
			return ' '
		case r == '<' || r == '>':
			return -1
		}
		return r
	}, s))
}

// newest returns the author of the latest change.
func newest(changes []change, edits []Edit) Author {
	var last Author
	for i := range changes {
		if by := edits[changes[i].edit].Last(); i == 0 || by.Time.After(last.Time) {
			last = by
		}
	}
	return last
}
