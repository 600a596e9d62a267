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
	text := setField(header.Str[0], "PO-Revision-Date", a.options.Revision.UTC().Format("2006-01-02 15:04-0700"))
	if author.Name != "" {
		who := headerText(author.Name)
		if author.Email != "" {
			who += " <" + headerText(author.Email) + ">"
		}
		text = setField(text, "Last-Translator", who)
	}
	header.Str = append([]string{text}, header.Str[1:]...)
}

// setField replaces the value of a header's field, the first one of that name.
func setField(header, name, value string) string {
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
		break
	}
	return strings.Join(lines, "")
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
